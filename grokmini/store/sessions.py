"""All sessions of a person: made, opened, listed and found. Everything here blocks; call it off the event loop."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import Notice
from grokmini.protocol.ids import is_session_id, is_session_prefix, uuid7
from grokmini.protocol.items import Stored
from grokmini.store.jsonl import CORRUPT, last_number
from grokmini.store.layout import (
    HISTORY,
    SESSIONS,
    SUMMARY,
    UPDATES,
    decode_cwd,
    encode_cwd,
    is_missing,
    listing_error,
    size_of,
    subdirectories,
)
from grokmini.store.lost_prompts import History, read_history
from grokmini.store.session_disk import SessionDisk
from grokmini.store.session_files import SessionFiles, reason_of, trouble_notice
from grokmini.store.session_writer import Trouble
from grokmini.store.set_aside import is_shut, refusal, set_aside
from grokmini.store.summary import Summary, read_summary
from grokmini.store.token_factors import read_factors

NOWHERE = Path(os.devnull, "no-session")
"""Never a directory: what a session in memory is asked to write there fails."""


class SessionInfo(NamedTuple):
    """A stored session as a list shows it. `updated` is when its last turn ended, in seconds since the epoch."""

    session_id: str
    directory: Path
    updated: float
    summary: Summary


class OpenSession(NamedTuple):
    """A session that this process drives.

    `directory` may not exist while nothing can be written; a session in memory has one that cannot exist.
    `token_factors` is what was learnt of models (`start_chat`'s `factors`).
    """

    session_id: str
    directory: Path
    items: tuple[Stored, ...]
    summary: Summary
    last_seq: int
    notices: tuple[Notice, ...]
    files: SessionFiles
    token_factors: dict[str, float]


class SessionStore:
    """The sessions under one state directory. Holds nothing but the path."""

    def __init__(self, root: Path, *, now: Callable[[], float] = time.time) -> None:
        self._root = root
        self._now = now

    @property
    def root(self) -> Path:
        """The state directory."""
        return self._root

    def create(
        self,
        *,
        cwd: Path,
        model: str,
        parent: str | None = None,
        session_id: str | None = None,
        branch: str = "",
    ) -> OpenSession:
        """A new session. When nothing can be written it goes on in memory, and a notice says so.

        Raises `SessionError` when the id is no session id or is taken.
        """
        if session_id is not None:
            self._check_free(session_id)
        summary = _new_summary(session_id or uuid7(self._now), cwd, model, self._now(), parent, branch)
        directory = self._root / SESSIONS / encode_cwd(cwd) / summary.session_id
        disk = SessionDisk(self._root, directory, summary, new=True)
        notices: tuple[Notice, ...]
        try:
            disk.acquire()
        except OSError as error:
            notices = (trouble_notice(Trouble(error)),)
            files = SessionFiles(disk, summary, failing=True, now=self._now)
        else:
            notices = (_lease_notice(),) if disk.by_lease else ()
            files = SessionFiles(disk, summary, now=self._now)
        factors = read_factors(self._root)
        return OpenSession(summary.session_id, directory, (), summary, 0, notices, files, factors)

    def open(self, session_id: str) -> OpenSession:
        """Go on with a session that no other process drives.

        Raises `SessionBusyError` naming the other process, `SessionError` when there is no such session.
        """
        directory = self.directory_of(session_id)
        _check_summary(directory)
        disk = SessionDisk(self._root, directory, _listed(directory), new=False)
        refused: OSError | None = None
        try:
            disk.acquire(make=False)
        except FileNotFoundError:
            raise _no_session(session_id) from None  # deleted since we looked
        except OSError as error:
            refused = error
        return self._load(directory, disk, refused)

    def _load(self, directory: Path, disk: SessionDisk, refused: OSError | None) -> OpenSession:
        """Read a session; after the lock is held, since the former driver may only just have left."""
        known = read_summary(directory)
        notices = [] if known is not None else [_summary_notice(directory)]
        summary = known or _filed_under(directory)
        try:
            read = read_history(directory, known)
        except OSError as error:
            disk.close()
            raise SessionError(
                f"Session {directory.name} cannot be read: {reason_of(error)}.", "Check the file's permissions."
            ) from error
        last_seq, told = _last_seq(directory / UPDATES, ours=refused is None)
        notices += told
        if read.skipped or read.restored:
            notices.append(_damage_notice(read, directory / HISTORY))
        if refused is not None:
            notices.append(trouble_notice(Trouble(refused)))
        if disk.by_lease:
            notices.append(_lease_notice())
        disk.loaded(read.values, summary, changed=read.restored > 0)
        return OpenSession(
            session_id=directory.name,
            directory=directory,
            items=tuple(read.values),
            summary=summary,
            last_seq=last_seq,
            notices=tuple(notices),
            files=SessionFiles(disk, summary, failing=refused is not None, now=self._now),
            token_factors=read_factors(self._root),
        )

    def directory_of(self, session_id: str) -> Path:
        """Where a session's files are, also of one that cannot be resumed: the newest, of copies that a person made.

        Raises `SessionError`.
        """
        found = []
        if is_session_id(session_id):
            for group in subdirectories(self._root / SESSIONS):
                directory = Path(group.path, session_id)
                with suppress(OSError):
                    found.append((directory.stat().st_mtime, directory))
        if not found:
            raise _no_session(session_id)
        return max(found)[1]

    def latest(self, cwd: Path) -> SessionInfo | None:
        """The newest session of a working directory, whoever drives it."""
        return next(self._infos(cwd), None)

    def find(self, text: str) -> list[SessionInfo]:
        """Sessions whose id begins with the text (8 characters or more), or else whose title it is.

        A title matches whatever its case; when no title is the text, titles beginning with it match.
        """
        if is_session_prefix(text) and (found := list(self._infos(None, text))):
            return found
        wanted = text.casefold()
        infos = list(self._infos(None))
        exact = [info for info in infos if info.summary.title.casefold() == wanted]
        return exact or [info for info in infos if info.summary.title.casefold().startswith(wanted)]

    def list(self, limit: int, cwd: Path | None = None) -> list[SessionInfo]:
        """The newest sessions, of one working directory or of all; reads only their own summaries.

        Raises `SessionError`, as `latest` and `find` do, where it cannot be told which there are.
        """
        return list(islice(self._infos(cwd), limit))

    def unlisted(self) -> Iterator[OSError]:
        """Why the sessions of some working directories are in no list of all."""
        for group in subdirectories(self._root / SESSIONS):
            if (error := listing_error(Path(group.path))) is not None:
                yield error

    def _infos(self, cwd: Path | None, prefix: str = "") -> Iterator[SessionInfo]:
        """Sessions whose id begins with `prefix`, newest first, each read only when it is asked for.

        Of copies that a person made of one, the newest: the others could not be named.
        """
        seen: set[str] = set()
        for updated, path in sorted(self._candidates(cwd, prefix), reverse=True):
            directory = Path(path)
            if directory.name not in seen and not is_missing(directory / SUMMARY):
                seen.add(directory.name)
                yield SessionInfo(directory.name, directory, updated, _listed(directory))

    def _candidates(self, cwd: Path | None, prefix: str) -> Iterator[tuple[float, str]]:
        """Every directory that may be a session, with the time something in it was last made or replaced.

        Writing the summary replaces it, so that is the time of the last turn. One look at the directory's own
        entry is enough: there may be 12,000 of them.
        """
        base = self._root / SESSIONS
        check_listed(base if cwd is None else base / encode_cwd(cwd))
        groups = [str(base / encode_cwd(cwd))] if cwd is not None else [e.path for e in subdirectories(base)]
        for group in groups:
            for entry in subdirectories(group):
                if entry.name.startswith(prefix):
                    try:
                        yield entry.stat().st_mtime, entry.path
                    except OSError:
                        continue  # deleted meanwhile

    def _check_free(self, session_id: str) -> None:
        if not is_session_id(session_id):
            raise SessionError(f"{session_id!r} is no session id.", "A session id is a UUID in lower case.")
        for group in subdirectories(self._root / SESSIONS):
            if not is_missing(Path(group.path, session_id)):
                raise SessionError(
                    f"Session {session_id} exists already.", f"Go on with it: grokmini --resume={session_id}"
                )


def memory_session(*, cwd: Path, model: str, now: Callable[[], float] = time.time) -> OpenSession:
    """A session of a person without a home: it lives in memory, and says so."""
    summary = _new_summary(uuid7(now), cwd, model, now(), None, "")
    notice = Notice(
        "warning",
        "There is no home folder, so this session is not saved. Set GROKMINI_HOME to a folder to keep sessions.",
        "not_saving",
    )
    return OpenSession(
        summary.session_id, NOWHERE, (), summary, 0, (notice,), SessionFiles(None, summary, now=now), {}
    )


def _new_summary(
    session_id: str, cwd: Path, model: str, now: float, parent: str | None, branch: str
) -> Summary:
    return Summary(
        session_id=session_id,
        cwd=str(cwd),
        branch=branch,
        model=model,
        created_at=now,
        updated_at=now,
        parent_session_id=parent,
    )


def check_listed(path: Path) -> None:
    """Raises `SessionError` where sessions may be and cannot be listed: that is not the same as none."""
    if (error := listing_error(path)) is not None:
        raise SessionError(
            f"The sessions cannot be listed: {reason_of(error)}.", f"Check the permissions of {path}."
        )


def _listed(directory: Path) -> Summary:
    """A session's summary, or what is known without one."""
    return read_summary(directory) or _filed_under(directory)


def _filed_under(directory: Path) -> Summary:
    """What is known of a session by its place alone."""
    return Summary(session_id=directory.name, cwd=str(decode_cwd(directory.parent)))


def _summary_notice(directory: Path) -> Notice:
    return Notice(
        "warning",
        f"{directory / SUMMARY} is damaged; it is written anew with the next turn.",
        "summary_damaged",
    )


def _check_summary(directory: Path) -> None:
    if is_missing(directory / SUMMARY):
        raise SessionError(
            f"Session {directory.name} has no {SUMMARY} and cannot be resumed.",
            f"Rebuild it from {directory / HISTORY}: grokmini sessions repair {directory.name}",
        )


def _no_session(session_id: str) -> SessionError:
    return SessionError(
        f"There is no session {session_id}.", "`grokmini --continue` takes the latest one here."
    )


def _last_seq(path: Path, *, ours: bool) -> tuple[int, list[Notice]]:
    """The number of the last event in a record, and what there is to say of it.

    A record that cannot be read keeps nobody from the conversation: if it is `ours` to move it goes aside with all
    that is in it. Numbers then begin above its size, which its own cannot have reached: an event takes a byte.
    """
    error = refusal(path)
    if error is None:
        try:
            return last_number(path, "seq"), []
        except OSError as reading:
            error = reading
    size = size_of(path)
    if not ours or not is_shut(error):
        return size, [_unread_notice(error, "")]
    try:
        return size, [_unread_notice(error, f" and was moved to {set_aside(path)}")]
    except OSError:
        return size, []  # the writer meets it, and tells that nothing is recorded


def _unread_notice(error: OSError, done: str) -> Notice:
    return Notice(
        "warning",
        f"The record of events could not be read ({reason_of(error)}){done}. The conversation is whole; "
        "`grokmini log` and search begin here.",
        "log_unreadable",
    )


def _lease_notice() -> Notice:
    return Notice(
        "info",
        "The session's file system comes over a network or has no locks: other processes see by a file renewed every "
        "30 s that it is in use.",
        "lease",
    )


def _damage_notice(read: History, path: Path) -> Notice:
    """What could not be read, where it is kept, and what was made good."""
    told = []
    if read.skipped:
        copy = f"{path}{CORRUPT}"
        fate = (
            f"the damaged file is kept as {copy}"
            if read.kept
            else f"no copy could be kept as {copy}, so copy {path} elsewhere now: a later rewrite leaves them out for "
            "good"
        )
        told.append(
            f"{_counted(read.skipped, 'line')} of {path.name} could not be read and were left out; {fate}"
        )
    if read.restored:
        told.append(
            f"{_counted(read.restored, 'prompt')} that {path.name} lacked came back from the record of events "
            "(`grokmini log` shows what else was said)"
        )
    return Notice("warning", ". ".join(told), "lines_skipped" if read.skipped else "prompts_restored")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
