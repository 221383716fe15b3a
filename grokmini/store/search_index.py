"""Full text search over all sessions: an index of prompts, replies and tool names, kept in the cache.

It can be thrown away at any time. `refresh` brings it up to date: a session whose directory has not changed since
is not opened, and of one that has only the new end of its events is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from grokmini.protocol.codec import join_surrogates
from grokmini.store.follow import UpdatesTail
from grokmini.store.layout import SESSIONS, UPDATES, encode_cwd, size_of, subdirectories
from grokmini.store.said import Piece, Said
from grokmini.store.sessions import check_listed
from grokmini.store.sqlite_file import is_damage, open_database, remove_database
from grokmini.store.summary import read_summary

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

NAME: Final = "search"
VERSION: Final = 3
SCHEMA: Final = """
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    directory TEXT NOT NULL UNIQUE,
    folder TEXT NOT NULL,
    title TEXT NOT NULL,
    updated REAL NOT NULL,
    seen INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    prompt INTEGER NOT NULL,
    open INTEGER NOT NULL,
    mark BLOB NOT NULL
);
CREATE INDEX session_folder ON session (folder);
CREATE TABLE piece (
    id INTEGER PRIMARY KEY,
    prompt INTEGER NOT NULL,
    kind TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')
"""
SHIFT: Final = 24
"""A piece's number is its session's, shifted so far, and its place in the session; 0 is the title. So what the words
are in is known from the numbers alone, without looking anything up.
"""
_KNOWN: Final = "SELECT directory, id, seen, offset, prompt, open, mark FROM session"
_KNOWN_ONE: Final = "SELECT id, seen, offset, prompt, open, mark FROM session WHERE directory = ?"
_HELD: Final = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid"
_RANKED: Final = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank"
_NEWEST: Final = "SELECT id FROM session WHERE :folder IN ('', folder) ORDER BY updated DESC"
_HIT: Final = f"""
SELECT directory, title, updated, piece.prompt, kind, snippet(words, 0, '', '', '…', 14)
FROM words JOIN piece ON piece.id = words.rowid JOIN session ON session.id = words.rowid >> {SHIFT}
WHERE words MATCH ? AND words.rowid = ?
"""
BATCH: Final = 200
"""Sessions indexed in one transaction."""

MANY: Final = 2_000
"""Places above which the newest sessions come first: words that are everywhere rank nothing, and ranking costs most."""

MARKED: Final = 4_096
"""Bytes at each end of what was read of a session's events that tell them from another file's."""

RECENT: Final = 200
"""Newest sessions whose events are looked at too: one that was killed has no summary of its last words."""


class Hit(NamedTuple):
    """A session in which the words were found, and the best place in it.

    `kind` is `title`, `prompt`, `reply` or `tool`; `snippet` the words around the place, which may hold anything
    that a session can. `updated` is in seconds since the epoch.
    """

    session_id: str
    directory: Path
    title: str
    updated: float
    prompt_index: int
    kind: str
    snippet: str


class _Known(NamedTuple):
    """What the index knows of a session: up to where its events were read, and when its directory had changed.

    `open` is the piece with which a reply begins that had not ended there, 0 when none had: what comes next goes
    on with it, perhaps in the midst of a word. `mark` tells the bytes that were read from others.
    """

    id: int
    seen: int = 0
    offset: int = 0
    prompt: int = 0
    open: int = 0
    mark: bytes = b""


class SearchIndex:
    """The index of the sessions under one state directory. Blocks; one owner; any thread."""

    def __init__(self, cache: Path, state: Path) -> None:
        """Nothing is opened before it is used."""
        self._cache = cache
        self._sessions = state / SESSIONS
        self._connection: sqlite3.Connection | None = None

    def refresh(self, deadline: float | None = None, clock: Callable[[], float] = time.monotonic) -> int:
        """Bring the index up to date, newest sessions first, until `deadline` on `clock`.

        Returns how many changed sessions are left for the next time. A session that cannot be read is found by
        its title alone. Raises `OSError`, `sqlite3.Error`, and `SessionError` where it cannot be told which there are.
        """
        return self._surely(lambda: self._refresh(deadline, clock))

    def _refresh(self, deadline: float | None, clock: Callable[[], float]) -> int:
        connection = self._open()
        known = {row[0]: _Known(*row[1:]) for row in connection.execute(_KNOWN)}
        found = dict(self._directories())
        newest = sorted(found, key=found.__getitem__, reverse=True)
        changed = [
            path
            for place, path in enumerate(newest)
            if path not in known
            or known[path].seen != found[path]
            or (place < RECENT and size_of(Path(path, UPDATES)) != known[path].offset)
        ]
        self._forget(connection, [path for path in known if path not in found])
        done = 0
        while done < len(changed) and (deadline is None or clock() < deadline):
            with _writing(connection):
                for path in changed[done : done + BATCH]:
                    self._index(connection, path, found[path])
                    done += 1
                    if deadline is not None and clock() >= deadline:
                        break
        return len(changed) - done

    def search(self, words: str, *, limit: int = 20, cwd: Path | None = None) -> list[Hit]:
        """Sessions that hold all the words, the last one also as a beginning; best first (of words that are
        everywhere: newest first), one hit a session.

        Those with all words in one place come before those with each word somewhere. With `cwd` only sessions of
        that folder. Raises `OSError` and `sqlite3.Error`.
        """
        terms = terms_of(words)
        if not terms:
            return []
        folder = "" if cwd is None else str(self._sessions / encode_cwd(cwd))
        return self._surely(lambda: self._search(terms, folder, limit))

    def _search(self, terms: list[str], folder: str, limit: int) -> list[Hit]:
        connection = self._open()
        sessions = [number for (number,) in connection.execute(_NEWEST, {"folder": folder})]
        found = _found(connection, " ".join(terms), sessions, limit)
        if len(found) < limit and len(terms) > 1:
            common = set(sessions) - {hit.session for hit in found}
            for term in terms:
                if common:
                    common &= {place >> SHIFT for (place,) in connection.execute(_HELD, (term,))}
            others = [number for number in sessions if number in common]
            if others:
                found += _found(connection, " OR ".join(terms), others, limit - len(found))
        return [_hit(connection, place) for place in found]

    def close(self) -> None:
        """Give the file back; a later use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _surely(self, work: Callable[[], T]) -> T:
        """Do it, if need be with an index made anew: damage in the midst of the file is seen only when it is read."""
        import sqlite3

        try:
            return work()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
        self._start_over()
        self._refresh(None, time.monotonic)
        return work()

    def _start_over(self) -> None:
        path = Path(self._open().execute("PRAGMA database_list").fetchone()[2])
        self.close()
        remove_database(path)

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_database(self._cache, NAME, schema=SCHEMA, version=VERSION)
        return self._connection

    def _directories(self) -> Iterator[tuple[str, int]]:
        """Every session's directory with the time of its last change: the summary is replaced at each turn's end."""
        check_listed(self._sessions)
        for group in subdirectories(self._sessions):
            for entry in subdirectories(group.path):
                with suppress(OSError):  # deleted meanwhile
                    yield entry.path, entry.stat().st_mtime_ns

    def _forget(self, connection: sqlite3.Connection, paths: list[str]) -> None:
        if not paths:
            return
        with _writing(connection):
            for path in paths:
                if (known := _known(connection, path)) is not None:
                    _remove_pieces(connection, known.id)
                    connection.execute("DELETE FROM session WHERE id = ?", (known.id,))

    def _index(self, connection: sqlite3.Connection, path: str, seen: int) -> None:
        """Take in what is new of one session, unless another process has done so meanwhile."""
        directory = Path(path)
        known = _known(connection, path)
        if known is not None and known.seen == seen and known.offset == size_of(directory / UPDATES):
            return
        summary = read_summary(directory)
        title, updated = (summary.title, summary.updated_at) if summary is not None else ("", 0.0)
        if known is not None and _mark(directory, known.offset) != known.mark:
            _remove_pieces(connection, known.id)  # another file is in its place
            known = _Known(known.id)
        if known is None:
            cursor = connection.execute(
                "INSERT INTO session (directory, folder, title, updated, seen, offset, prompt, open, mark)"
                " VALUES (?, ?, '', 0, 0, 0, 0, 0, x'')",
                (path, str(directory.parent)),
            )
            known = _Known(cursor.lastrowid or 0)
        _put(connection, known.id << SHIFT, Piece(title, known.prompt, "title"))
        tail = UpdatesTail(directory, offset=known.offset)
        said = Said(known.prompt, _take_open(connection, known))
        with suppress(OSError):
            while True:
                _add(connection, known.id, said.take(tail.read()))
                if not tail.behind:
                    break
        begun = _add(connection, known.id, said.unfinished())
        connection.execute(
            "UPDATE session SET title = ?, updated = ?, seen = ?, offset = ?, prompt = ?, open = ?, mark = ?"
            " WHERE id = ?",
            (
                title,
                updated,
                seen,
                tail.offset,
                said.prompt,
                begun,
                _mark(directory, tail.offset),
                known.id,
            ),
        )


@contextmanager
def _writing(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing, one process at a time."""
    import sqlite3

    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):  # the error that brought us here is the one to tell
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _known(connection: sqlite3.Connection, path: str) -> _Known | None:
    row = connection.execute(_KNOWN_ONE, (path,)).fetchone()
    return None if row is None else _Known(*row)


class _Place(NamedTuple):
    """A piece that fits a query."""

    query: str
    piece: int

    @property
    def session(self) -> int:
        """The session that it is of."""
        return self.piece >> SHIFT


def _found(connection: sqlite3.Connection, query: str, sessions: list[int], limit: int) -> list[_Place]:
    """The best place of each of these sessions (given newest first) that fits, at most so many; titles first."""
    places = [place for (place,) in connection.execute(_HELD, (query,))]
    first: dict[int, int] = {}
    for place in places:
        first.setdefault(place >> SHIFT, place)
    titled = [number for number in sessions if number in first and first[number] == number << SHIFT]
    order = dict.fromkeys(titled)
    if len(places) > MANY:
        order |= dict.fromkeys(number for number in sessions if number in first)
    else:
        among, best = set(sessions), dict.fromkeys(titled, 0)
        for (place,) in connection.execute(_RANKED, (query,)):
            if place >> SHIFT in among and best.setdefault(place >> SHIFT, place) == place:
                order.setdefault(place >> SHIFT)
        first |= {number: place for number, place in best.items() if place}
    return [_Place(query, first[number]) for number in list(order)[:limit]]


def _hit(connection: sqlite3.Connection, place: _Place) -> Hit:
    """A place with the words around it. They are made for what is shown only: they cost most."""
    directory, title, updated, prompt, kind, snippet = connection.execute(_HIT, place).fetchone()
    path = Path(directory)
    return Hit(path.name, path, title, updated, prompt, kind, " ".join(snippet.split()))


def terms_of(words: str) -> list[str]:
    """The words as terms of an FTS5 query, each quoted so that nothing in it is a command; the last one a prefix.

    Words without a letter or digit are none.
    """
    text = join_surrogates(words).replace("\x00", " ")
    found = [word for word in text.split() if any(map(str.isalnum, word))]
    quoted = ['"' + word.replace('"', '""') + '"' for word in found]
    return [*quoted[:-1], quoted[-1] + "*"] if quoted else []


def _add(connection: sqlite3.Connection, session: int, pieces: Iterable[Piece]) -> int:
    """Add pieces behind those that the session has; the title's place is its first. The first one's, 0 for none."""
    (last,) = connection.execute(
        "SELECT max(id) FROM piece WHERE id BETWEEN ? AND ?", _range_of(session)
    ).fetchone()
    first = (last or session << SHIFT) + 1
    number = first
    for piece in pieces:
        _put(connection, number, piece)
        number += 1
    return first if number > first else 0


def _take_open(connection: sqlite3.Connection, known: _Known) -> str:
    """Take back the pieces of a reply that goes on; its text so far."""
    if not known.open:
        return ""
    rest = known.open, _range_of(known.id)[1]
    rows = connection.execute("SELECT text FROM words WHERE rowid BETWEEN ? AND ? ORDER BY rowid", rest)
    text = "".join(row[0] for row in rows)
    _remove_pieces(connection, known.id, known.open)
    return text


def _put(connection: sqlite3.Connection, number: int, piece: Piece) -> None:
    """Write a piece in its place, where there may be another."""
    connection.execute("INSERT OR REPLACE INTO piece VALUES (?, ?, ?)", (number, piece.prompt, piece.kind))
    connection.execute("INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)", (number, piece.text))


def _remove_pieces(connection: sqlite3.Connection, session: int, start: int = 0) -> None:
    """Remove a session's pieces, all or from `start` on."""
    first, last = _range_of(session)
    connection.execute("DELETE FROM words WHERE rowid BETWEEN ? AND ?", (start or first, last))
    connection.execute("DELETE FROM piece WHERE id BETWEEN ? AND ?", (start or first, last))


def _range_of(session: int) -> tuple[int, int]:
    return session << SHIFT, (session + 1 << SHIFT) - 1


def _mark(directory: Path, offset: int) -> bytes:
    """What tells the first `offset` bytes of a session's events from another file's: a digest of their beginning
    and end. Nothing where there are none so many.
    """
    from hashlib import blake2b

    if not offset:
        return b""
    try:
        with (directory / UPDATES).open("rb") as file:
            head = file.read(min(MARKED, offset))
            file.seek(max(0, offset - MARKED))
            tail = file.read(min(MARKED, offset))
    except OSError:
        return b""
    if len(tail) < min(MARKED, offset):
        return b""
    return blake2b(head + tail, digest_size=8).digest()
