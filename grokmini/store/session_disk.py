"""The disk side of one session, used by its writer thread alone: what is still to be written, and writing it.

Either everything handed in is on the disk, or `write` raises and everything that is not stays here to be tried
again. After a failure the history is written whole, once, in place of the file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from grokmini.protocol.codec import encode_event, encode_stored
from grokmini.protocol.events import EventRecord
from grokmini.protocol.items import Stored
from grokmini.store.atomic import remove_leftovers, replace_file
from grokmini.store.coalesce import coalesce
from grokmini.store.driver_lock import DriverLock, SessionBusyError
from grokmini.store.jsonl import AppendFile
from grokmini.store.layout import (
    DRIVER_LOCK,
    HISTORY,
    SUMMARY,
    UPDATES,
    is_missing,
    make_group,
    make_private_directory,
    size_of,
    sync_directory,
)
from grokmini.store.lines import is_users_own
from grokmini.store.set_aside import is_shut, refusal, set_aside
from grokmini.store.summary import Summary, change_summary
from grokmini.store.token_factors import write_factors

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

EVENT_BYTES_LIMIT = 64 << 20
"""Bytes of event lines kept in memory while nothing can be written; then the oldest go."""


class SessionDisk:
    """What one session still owes the disk. Not thread-safe."""

    def __init__(
        self, root: Path, directory: Path, summary: Summary, *, new: bool, remote: bool | None = None
    ) -> None:
        """Nothing is touched before `acquire` or `write`. `remote` is `DriverLock.acquire`'s."""
        self._remote = remote
        self._root = root
        self.directory = directory
        self._summary = summary
        self._factors: dict[str, float] = {}
        self._history: list[Stored] = []
        self._written = 0
        self._whole = False
        self._in_file = 0  # bytes of the history's file when it was written last
        self._extendable = True  # whether these are the beginning of the history as it is
        self._events: list[bytes] = []
        self._event_bytes = 0
        self.events_lost = 0
        self.log_deleted = False
        self.log_refused: OSError | None = None
        self._log_begun = not new
        self._summary_changes: dict[str, object] = {}
        self._summary_exists = not new
        self._worth_keeping = not new
        self._lock: DriverLock | None = None
        self._lock_lost = False
        self._files: tuple[AppendFile, AppendFile | None] | None = None
        self._new_names = False
        self._taken_over: SessionBusyError | None = None

    def loaded(self, items: Sequence[Stored], summary: Summary, *, changed: bool = False) -> None:
        """What the files already hold; a `changed` history is not what its file holds, and is written whole."""
        self._summary = summary
        self._history = list(items)
        self._written = len(self._history)
        self._whole = changed
        self._in_file, self._extendable = size_of(self.directory / HISTORY), not changed

    def add_item(self, stored: Stored) -> None:
        """One more item of the history."""
        self._history.append(stored)
        self._worth_keeping = self._worth_keeping or is_users_own(stored)

    def replace_items(self, items: Iterable[Stored]) -> None:
        """A whole new history."""
        self._history = list(items)
        self._whole, self._extendable = True, False
        self._worth_keeping = self._worth_keeping or any(map(is_users_own, self._history))

    def add_events(self, records: Iterable[EventRecord]) -> None:
        """Events in order."""
        for record in coalesce(records):
            line = encode_event(record)
            self._events.append(line)
            self._event_bytes += len(line)

    def change(self, changes: dict[str, object]) -> None:
        """New values of fields of the summary."""
        self._summary_changes.update(changes)
        self._summary = msgspec.structs.replace(self._summary, **changes)

    def learn(self, model: str, factor: float) -> None:
        """A model's token factor; it is written with the summary."""
        self._factors[model] = factor

    def acquire(self, *, make: bool = True) -> None:
        """Become the session's driver, in a directory that is made if need be; without `make` it has to be there.

        Raises `OSError`, `SessionBusyError`.
        """
        if self._taken_over is not None:
            raise self._taken_over
        if self._lock is not None and self._lock.is_lost():
            self._lock.release()
            self._lock, self._lock_lost = None, True
        if self._lock is None:
            if make:
                make_group(self._root, Path(self._summary.cwd))
                make_private_directory(self.directory)
            self._lock = self._locked()
            remove_leftovers(self.directory / HISTORY)
            self._new_names = True

    def _locked(self) -> DriverLock:
        """The lock, taken. Who had it and lost it (its file was removed) writes nothing over what another wrote."""
        try:
            lock = DriverLock.acquire(self.directory, remote=self._remote)
        except SessionBusyError as error:
            if self._lock_lost:
                self._taken_over = error
            raise
        if self._lock_lost and size_of(self.directory / HISTORY) > self._in_file:
            lock.release()
            self._taken_over = SessionBusyError(self.directory.name, "one that went on with it meanwhile")
            raise self._taken_over
        self._lock_lost = False
        return lock

    @property
    def by_lease(self) -> bool:
        """Whether other hosts see this driver by its lease alone."""
        return self._lock is not None and self._lock.by_lease

    def stay(self) -> None:
        """Say to other hosts that we still drive. Raises `SessionBusyError`, `OSError`.

        Whoever was taken over, after a long sleep, never writes again: the files are another's by then.
        """
        if self._lock is not None:
            try:
                self._lock.refresh()
            except SessionBusyError as error:
                self._taken_over = error
                raise

    def touch(self) -> None:
        """Show clean-ups that the session is in use. Raises `OSError`."""
        if self._worth_keeping:
            os.utime(self.directory)

    def write(self, *, durable: bool = False, index: bool = True) -> None:
        """Write all that is waiting; with `durable` wait until it is on the disk itself.

        Without `index` the summary may wait, unless there is none yet: a session that nobody can find would
        not be saved. When the record of events alone refuses, they wait and `log_refused` says why: the history
        is saved all the same. Raises `OSError`.
        """
        if self.by_lease:
            self.stay()
        history, updates = self._open()
        if self._whole:
            self._write_whole(history)
            history, updates = self._open()
        if self._written < len(self._history):
            self._extend(history)
        self._write_events(updates)
        if durable:
            self._sync(history)
            if updates is not None:
                updates.sync()
        if self._worth_keeping and (index or not self._summary_exists):
            self._write_summary()
        if durable and self._new_names:
            sync_directory(self.directory)
            sync_directory(self.directory.parent)
            self._new_names = False

    def failed(self) -> None:
        """After an error: start over with fresh files, and write the whole history when it works again."""
        self._whole = True
        self._close_files()
        if self._log_begun and is_missing(self.directory / UPDATES):
            self.log_deleted, self._log_begun = True, False
        self._summary_exists = not is_missing(self.directory / SUMMARY)
        self._bound_events()

    def close(self) -> None:
        """Give files and lock back. A new session in which nothing of the person's happened leaves no trace."""
        self._close_files()
        if self._lock is not None:
            if not self._worth_keeping:
                _remove_empty(self.directory)
            self._lock.release()
            self._lock = None

    def _bound_events(self) -> None:
        """Let the oldest events go when too many wait."""
        lost = 0
        while self._event_bytes > EVENT_BYTES_LIMIT:
            self._event_bytes -= len(self._events[lost])
            lost += 1
        del self._events[:lost]
        self.events_lost += lost

    def _open(self) -> tuple[AppendFile, AppendFile | None]:
        self.acquire()
        if self._files is not None and any(file.is_gone() for file in self._files if file is not None):
            self._extendable = False
            raise FileNotFoundError(
                errno.ENOENT, "the session's files were moved or deleted", str(self.directory)
            )
        if self._files is None:
            history = AppendFile(self.directory / HISTORY)
            try:
                self._files = history, self._open_log()
            except OSError:
                history.close()
                raise
            self._new_names = True
        elif self._files[1] is None and (updates := self._open_log()) is not None:
            self._files = self._files[0], updates
            self._new_names = True
        return self._files

    def _open_log(self) -> AppendFile | None:
        """The record of events; what is in its place and is no file of ours is moved aside first.

        None when that cannot be had although the disk takes everything else. Raises `OSError`.
        """
        path = self.directory / UPDATES
        try:
            if refusal(path) is not None:
                set_aside(path)
                self.log_deleted = True
            updates = AppendFile(path)
        except OSError as error:
            if not is_shut(error):
                raise
            self.log_refused = error
            return None
        self.log_refused = None
        return updates

    def _extend(self, history: AppendFile) -> None:
        appended = history.append([encode_stored(stored) for stored in self._history[self._written :]])
        self._written += appended.lines
        self._in_file = history.size()
        if appended.error is not None:
            raise appended.error

    def _sync(self, history: AppendFile) -> None:
        """After a failure nobody knows what of the file is on the disk: it is written anew then."""
        try:
            history.sync()
        except OSError:
            self._extendable = False
            raise

    def _write_whole(self, history: AppendFile) -> None:
        """Write the history anew. Where there is no room for it twice, its file is left to be extended, if it holds
        all that was written so far.
        """
        lines = (encode_stored(stored) + b"\n" for stored in self._history)
        try:
            replace_file(self.directory / HISTORY, lines)
        except OSError as error:
            if error.errno not in _NO_ROOM or not self._extendable or history.size() < self._in_file:
                raise
        else:
            self._written = len(self._history)
            self._in_file, self._extendable = size_of(self.directory / HISTORY), True
            self._close_files()
        self._whole = False

    def _write_events(self, updates: AppendFile | None) -> None:
        if updates is None:
            self._bound_events()
            return
        if not self._events:
            return
        appended = updates.append(self._events)
        self._log_begun = True
        del self._events[: appended.lines]
        self._event_bytes = sum(map(len, self._events))
        if appended.error is not None:
            raise appended.error

    def _write_summary(self) -> None:
        if self._summary_changes or not self._summary_exists:
            change_summary(self.directory, self._summary_changes, self._summary)
            self._summary_changes = {}
            self._summary_exists = True
        if self._factors:
            write_factors(self._root, self._factors)
            self._factors = {}

    def _close_files(self) -> None:
        if self._files is not None:
            for file in self._files:
                if file is not None:
                    file.close()
            self._files = None


def _remove_empty(directory: Path) -> None:
    """Remove what opening a session made, and nothing else: a directory with anything else in it stays."""
    ours = {HISTORY, UPDATES, DRIVER_LOCK}
    try:
        found = list(directory.iterdir())
        if all(path.name in ours for path in found):
            for path in found:
                path.unlink()
            directory.rmdir()
    except OSError:
        pass  # an empty directory that cannot be removed does no harm: without a summary it is never listed
