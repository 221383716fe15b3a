"""What may go when room is wanted: old sessions if the person said so, and what can be made again or was spilled.

History, events and summary of a session go only by its age, and only when `cleanup_ttl_days` is set; caches, spill
files, compaction requests, scratch and shadow repositories go oldest first while together they are over a cap.
Nothing of a session that is driven or pinned is touched (spec: persistence.md; decisions.md, "Shell and git").
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.files.descriptors import open_straight
from grokmini.protocol.errors import SessionError
from grokmini.store.driver_lock import DriverLock
from grokmini.store.layout import (
    CAPPED_DIRECTORIES,
    HISTORY,
    SESSIONS,
    SUMMARY,
    UPDATES,
    is_missing,
    subdirectories,
)
from grokmini.store.manage import remove_empty_group, remove_held
from grokmini.store.sqlite_file import DATABASE, DATABASE_PARTS, remove_database
from grokmini.store.summary import read_summary
from grokmini.text.below import is_below

CAP_BYTES: Final = 1 << 30
TOOLS: Final = "tools"
"""The folder among the caches that commands write."""
DAY: Final = 86_400.0


class Cleaned(NamedTuple):
    """What went: whole sessions, and bytes of files that were only kept while there was room."""

    sessions: int
    bytes: int


class _Old(NamedTuple):
    """A file that may go, by its age."""

    changed: float
    size: int
    path: str
    session: str
    database: bool
    """Whether it is a database of ours, and not just called like one by a command."""


def clean(state: Path, cache: Path, *, ttl_days: int, cap_bytes: int = CAP_BYTES, now: float) -> Cleaned:
    """Remove sessions that nobody touched for `ttl_days` (0: none) and bring the rest under the cap.

    `now` is in seconds since the epoch. What cannot be removed is left. Blocks, for long on a slow disk.
    """
    sessions = _remove_old_sessions(state, now - ttl_days * DAY) if ttl_days > 0 else 0
    return Cleaned(sessions, _bring_under(state, cache, cap_bytes))


def _remove_old_sessions(state: Path, before: float) -> int:
    removed = 0
    for group in subdirectories(state / SESSIONS):
        gone = 0
        for entry in subdirectories(group.path):
            if _is_old(Path(entry.path), before) and remove_if_old(Path(entry.path), before):
                gone += 1
        if gone:
            remove_empty_group(Path(group.path))
        removed += gone
    return removed


def remove_if_old(directory: Path, before: float) -> bool:
    """Look at a session again, now that nobody can touch it, and remove it if it was not since `before`; whether it
    went.
    """
    with _held(directory) as held:
        if not held or not _is_old(directory, before):
            return False
        try:
            remove_held(directory)
        except OSError:
            return False
    return True


def _is_old(directory: Path, before: float) -> bool:
    try:
        return last_touched(directory) < before and not _is_pinned(directory)
    except OSError:
        return False


def last_touched(directory: Path) -> float:
    """When a session was touched last, in seconds since the epoch: by its driver, each hour, or by a turn."""
    times = [directory.stat().st_mtime]
    for name in (HISTORY, UPDATES):
        try:
            times.append((directory / name).stat().st_mtime)
        except OSError:
            continue
    return max(times)


@contextmanager
def _held(directory: Path) -> Iterator[bool]:
    """Whether the session is ours alone while the block runs. Making sure of it leaves its age as it was."""
    try:
        found = directory.stat()
        lock = DriverLock.acquire(directory)
    except (OSError, SessionError):
        yield False
        return
    times = found.st_atime_ns, found.st_mtime_ns
    try:
        os.utime(directory, ns=times)
        yield True
    finally:
        lock.release()
        with suppress(OSError):
            os.utime(directory, ns=times)


def _is_pinned(directory: Path) -> bool:
    """A summary that cannot be read might say so: such a session stays too."""
    summary = read_summary(directory)
    return summary.pinned if summary is not None else not is_missing(directory / SUMMARY)


def _bring_under(state: Path, cache: Path, cap_bytes: int) -> int:
    found = [*_files(cache, ""), *_session_files(state)]
    excess = sum(file.size for file in found) - cap_bytes
    removed = 0
    for file in sorted(found):
        if excess <= 0:
            break
        if _remove(file):
            removed += file.size
            excess -= file.size
    return removed


def _session_files(state: Path) -> Iterator[_Old]:
    for group in subdirectories(state / SESSIONS):
        for entry in subdirectories(group.path):
            for name in CAPPED_DIRECTORIES:
                yield from _files(Path(entry.path, name), entry.path)


def _files(root: Path, session: str) -> Iterator[_Old]:
    real = os.path.realpath(root)
    for folder, _, names in os.walk(real):
        for name in names:
            path = f"{folder}/{name}"
            if name.endswith((*DATABASE_PARTS, ".lock")):
                continue  # goes with its database, never before it; a lock may be held
            try:
                found = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode):
                database = name.endswith(DATABASE) and not session and not is_below(path, f"{real}/{TOOLS}")
                yield _Old(found.st_mtime, found.st_blocks * 512, path, session, database)


def _remove(file: _Old) -> bool:
    """Remove a file unless its session is driven or pinned by now, or it changed since it was looked at."""
    if not file.session:
        return _unlink(file)
    if _is_pinned(Path(file.session)):
        return False
    with _held(Path(file.session)) as held:
        return held and not _is_pinned(Path(file.session)) and _unlink(file)


def _unlink(file: _Old) -> bool:
    """Remove it by its folder, opened through no link: commands may put one in the place of a folder of theirs."""
    folder, _, name = file.path.rpartition("/")
    try:
        with _opened(folder) as fd:
            if os.stat(name, dir_fd=fd, follow_symlinks=False).st_mtime != file.changed:
                return False
            if file.database:
                remove_database(Path(file.path))
            else:
                os.unlink(name, dir_fd=fd)
    except OSError:
        return False
    above, _, name = folder.rpartition("/")
    with suppress(OSError), _opened(above) as fd:
        os.rmdir(name, dir_fd=fd)  # only where nothing else is left
    return True


@contextmanager
def _opened(folder: str) -> Iterator[int]:
    fd = open_straight(folder)
    try:
        yield fd
    finally:
        os.close(fd)
