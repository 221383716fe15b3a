"""Full text search over all sessions: an index of prompts, replies and tool names, kept in the cache.

It can be thrown away at any time. `refresh` brings it up to date: a session whose directory has not changed since
is not opened, and of one that has only the new end of its events is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from grokmini.protocol.events import EventRecord, TextDelta, ToolCallReady, TurnEnded, TurnStarted
from grokmini.store.follow import UpdatesTail
from grokmini.store.layout import SESSIONS, UPDATES, encode_cwd, subdirectories
from grokmini.store.sqlite_file import open_database
from grokmini.store.summary import read_summary

if TYPE_CHECKING:
    import sqlite3

NAME: Final = "search"
VERSION: Final = 1
SCHEMA: Final = """
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    directory TEXT NOT NULL UNIQUE,
    folder TEXT NOT NULL,
    title TEXT NOT NULL,
    updated REAL NOT NULL,
    seen INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    prompt INTEGER NOT NULL
);
CREATE INDEX session_folder ON session (folder);
CREATE TABLE piece (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    prompt INTEGER NOT NULL,
    kind TEXT NOT NULL
);
CREATE INDEX piece_session ON piece (session, kind);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')
"""
_KNOWN: Final = "SELECT directory, id, seen, seq, offset, prompt FROM session"
_SEARCH: Final = """
SELECT session.directory, session.title, session.updated, piece.prompt, piece.kind,
       snippet(words, 0, '', '', '…', 14)
FROM words JOIN piece ON piece.id = words.rowid JOIN session ON session.id = piece.session
WHERE words MATCH :query AND (:folder = '' OR session.folder = :folder)
ORDER BY (piece.kind = 'title') DESC, words.rank LIMIT :limit
"""
_HOLDING: Final = """
SELECT DISTINCT session.id FROM words JOIN piece ON piece.id = words.rowid JOIN session ON session.id = piece.session
WHERE words MATCH :query AND (:folder = '' OR session.folder = :folder)
"""
PIECE: Final = 20_000
"""Characters of a text that one row holds; longer ones are split."""

BATCH: Final = 200
"""Sessions indexed in one transaction."""

PLACES: Final = 50
"""Places looked at for each session that is wanted: one session may hold the words many times."""


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


class Piece(NamedTuple):
    """A text as it is indexed."""

    text: str
    prompt: int
    kind: str


class _Known(NamedTuple):
    """What the index knows of a session: up to where its events were read, and when its directory had changed."""

    id: int
    seen: int = 0
    seq: int = 0
    offset: int = 0
    prompt: int = 0


class SearchIndex:
    """The index of the sessions under one state directory. Blocks; one owner; any thread."""

    def __init__(self, cache: Path, state: Path) -> None:
        """Nothing is opened before it is used."""
        self._cache = cache
        self._sessions = state / SESSIONS
        self._connection: sqlite3.Connection | None = None

    def refresh(self, deadline: float | None = None, clock: Callable[[], float] = time.monotonic) -> int:
        """Bring the index up to date, newest sessions first, until `deadline` on `clock`.

        Returns how many changed sessions are left for the next time. Raises `OSError` and `sqlite3.Error`.
        """
        connection = self._open()
        known = {row[0]: _Known(*row[1:]) for row in connection.execute(_KNOWN)}
        found = dict(self._directories())
        changed = [path for path, seen in found.items() if path not in known or known[path].seen != seen]
        changed.sort(key=found.__getitem__, reverse=True)
        gone = [entry.id for path, entry in known.items() if path not in found]
        self._forget(connection, gone)
        done = 0
        while done < len(changed) and (deadline is None or clock() < deadline):
            connection.execute("BEGIN IMMEDIATE")
            for path in changed[done : done + BATCH]:
                self._index(connection, path, found[path], known.get(path))
                done += 1
                if deadline is not None and clock() >= deadline:
                    break
            connection.execute("COMMIT")
        return len(changed) - done

    def search(self, words: str, *, limit: int = 20, cwd: Path | None = None) -> list[Hit]:
        """Sessions that hold all the words, the last one also as a beginning; best first, one hit a session.

        Those with all words in one place come before those with each word somewhere. With `cwd` only sessions of
        that folder. Raises `OSError` and `sqlite3.Error`.
        """
        terms = terms_of(words)
        if not terms:
            return []
        folder = "" if cwd is None else str(self._sessions / encode_cwd(cwd))
        hits = self._places(" ".join(terms), folder, limit)
        if len(hits) < limit and len(terms) > 1:
            known = {hit.directory for hit in hits}
            hits += [hit for hit in self._scattered(terms, folder, limit) if hit.directory not in known]
        return hits[:limit]

    def _places(self, query: str, folder: str, limit: int, among: frozenset[str] | None = None) -> list[Hit]:
        """The best place of each session that fits an FTS5 query."""
        values = {"query": query, "folder": folder, "limit": limit * PLACES}
        hits: dict[str, Hit] = {}
        for directory, title, updated, prompt, kind, snippet in self._open().execute(_SEARCH, values):
            if directory not in hits and (among is None or directory in among):
                path = Path(directory)
                shown = " ".join(snippet.split())
                hits[directory] = Hit(path.name, path, title, updated, prompt, kind, shown)
        return list(hits.values())[:limit]

    def _scattered(self, terms: list[str], folder: str, limit: int) -> list[Hit]:
        """Sessions that hold each of the words somewhere, with the best place of any of them."""
        connection = self._open()
        holding = [
            {number for (number,) in connection.execute(_HOLDING, {"query": term, "folder": folder})}
            for term in terms
        ]
        common = set.intersection(*holding)
        named = {
            number: directory for directory, number in connection.execute("SELECT directory, id FROM session")
        }
        among = frozenset(named[number] for number in common)
        return self._places(" OR ".join(terms), folder, limit, among) if among else []

    def close(self) -> None:
        """Give the file back; a later use opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = open_database(self._cache, NAME, schema=SCHEMA, version=VERSION)
        return self._connection

    def _directories(self) -> Iterator[tuple[str, int]]:
        """Every session's directory with the time of its last change: the summary is replaced at each turn's end."""
        for group in subdirectories(self._sessions):
            for entry in subdirectories(group.path):
                yield entry.path, entry.stat().st_mtime_ns

    def _forget(self, connection: sqlite3.Connection, ids: list[int]) -> None:
        if not ids:
            return
        connection.execute("BEGIN IMMEDIATE")
        for number in ids:
            _remove_pieces(connection, number)
            connection.execute("DELETE FROM session WHERE id = ?", (number,))
        connection.execute("COMMIT")

    def _index(self, connection: sqlite3.Connection, path: str, seen: int, known: _Known | None) -> None:
        """Take in what is new of one session."""
        directory = Path(path)
        summary = read_summary(directory)
        title, updated = (summary.title, summary.updated_at) if summary is not None else ("", 0.0)
        if known is not None and _size(directory / UPDATES) < known.offset:
            _remove_pieces(connection, known.id)
            known = _Known(known.id)
        if known is None:
            cursor = connection.execute(
                "INSERT INTO session (directory, folder, title, updated, seen, seq, offset, prompt)"
                " VALUES (?, ?, '', 0, 0, 0, 0, 0)",
                (path, str(directory.parent)),
            )
            known = _Known(cursor.lastrowid or 0)
        _remove_pieces(connection, known.id, "title")
        _add(connection, known.id, [Piece(title, known.prompt, "title")])
        tail = UpdatesTail(directory, after_seq=known.seq, offset=known.offset)
        prompt = known.prompt
        while True:
            pieces, prompt = pieces_of(tail.read(), prompt)
            _add(connection, known.id, pieces)
            if not tail.behind:
                break
        connection.execute(
            "UPDATE session SET title = ?, updated = ?, seen = ?, seq = ?, offset = ?, prompt = ? WHERE id = ?",
            (title, updated, seen, tail.last_seq, tail.offset, prompt, known.id),
        )


def terms_of(words: str) -> list[str]:
    """The words as terms of an FTS5 query, each quoted so that nothing in it is a command; the last one a prefix.

    Words without a letter or digit are none.
    """
    found = [word for word in words.split() if any(map(str.isalnum, word))]
    quoted = ['"' + word.replace('"', '""') + '"' for word in found]
    return [*quoted[:-1], quoted[-1] + "*"] if quoted else []


def pieces_of(records: Iterable[EventRecord], prompt: int) -> tuple[list[Piece], int]:
    """What is searched for of some events, and the prompt they end in; `prompt` is the one they begin in."""
    pieces: list[Piece] = []
    reply: list[str] = []

    def end_reply() -> None:
        if reply:
            pieces.extend(_split("".join(reply), prompt, "reply"))
            reply.clear()

    for record in records:
        event = record.event
        if isinstance(event, TextDelta):
            reply.append(event.text)
        elif isinstance(event, TurnStarted):
            end_reply()
            prompt = event.prompt_index
            pieces.extend(_split(event.text, prompt, "prompt"))
        elif isinstance(event, ToolCallReady):
            end_reply()
            pieces.append(Piece(event.tool.name, prompt, "tool"))
        elif isinstance(event, TurnEnded):
            end_reply()
    end_reply()
    return pieces, prompt


def _split(text: str, prompt: int, kind: str) -> Iterator[Piece]:
    for start in range(0, len(text), PIECE):
        yield Piece(text[start : start + PIECE], prompt, kind)


def _add(connection: sqlite3.Connection, session: int, pieces: Iterable[Piece]) -> None:
    for piece in pieces:
        cursor = connection.execute(
            "INSERT INTO piece (session, prompt, kind) VALUES (?, ?, ?)", (session, piece.prompt, piece.kind)
        )
        connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (cursor.lastrowid, piece.text))


def _remove_pieces(connection: sqlite3.Connection, session: int, kind: str = "") -> None:
    wanted = "session = ?1 AND (?2 = '' OR kind = ?2)"
    connection.execute(
        f"DELETE FROM words WHERE rowid IN (SELECT id FROM piece WHERE {wanted})", (session, kind)
    )
    connection.execute(f"DELETE FROM piece WHERE {wanted}", (session, kind))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
