"""Driving a session on a network file system, where the locks of another host may not be seen (persistence.md).

A file names the host and process that drive, and is written anew every 30 s. Ages are measured by the file
server's own clock: against a file made just now beside it, never against this host's time.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from grokmini.protocol.ids import short_id
from grokmini.store.atomic import replace_file
from grokmini.store.layout import DRIVER_LEASE, open_private

REFRESH_SECONDS = 30.0
STALE_SECONDS = 3 * REFRESH_SECONDS
"""A lease that was not written anew for so long is nobody's: its driver was killed, or its host is asleep."""


class _Entry(msgspec.Struct):
    host: str
    pid: int
    token: str


class LeaseHeldError(Exception):
    """Another process holds the lease; its text says which."""


class Lease:
    """The held lease of one session directory."""

    def __init__(self, directory: Path, entry: _Entry) -> None:
        self._path = directory / DRIVER_LEASE
        self._entry = entry

    @classmethod
    def acquire(cls, directory: Path) -> Lease:
        """Take a lease that is free or stale. Raises `LeaseHeldError`, `OSError`."""
        if (other := live_holder(directory)) is not None:
            raise LeaseHeldError(other)
        lease = cls(directory, _Entry(os.uname().nodename, os.getpid(), short_id()))
        lease._write()
        if not lease.is_ours():
            raise LeaseHeldError(_name_of(_read(directory)))
        return lease

    def is_ours(self) -> bool:
        """Whether the file still names us: after a long sleep another process may have taken over."""
        found = _read(self._path.parent)
        return found is not None and found.token == self._entry.token

    def refresh(self) -> None:
        """Write it anew. Raises `LeaseHeldError` when another process has taken over, `OSError`."""
        if not self.is_ours():
            raise LeaseHeldError(_name_of(_read(self._path.parent)))
        self._write()

    def release(self) -> None:
        """Let another process drive. A lease that cannot be removed goes stale by itself."""
        try:
            if self.is_ours():
                self._path.unlink(missing_ok=True)
        except OSError:
            return

    def _write(self) -> None:
        replace_file(self._path, msgspec.json.encode(self._entry))


def live_holder(directory: Path) -> str | None:
    """Who holds a lease that is not stale, as `process PID on HOST`. Raises `OSError`."""
    entry = _read(directory)
    if entry is None or _age(directory) > STALE_SECONDS:
        return None
    return _name_of(entry)


def _age(directory: Path) -> float:
    """Seconds since the lease was written, by the clock of whoever keeps the files."""
    probe = directory.parent / f".{directory.name}.{os.getpid()}.now"  # in it, the session would look touched
    os.close(open_private(probe, os.O_WRONLY | os.O_TRUNC))
    try:
        os.utime(probe)
        return probe.stat().st_mtime - (directory / DRIVER_LEASE).stat().st_mtime
    except FileNotFoundError:
        return STALE_SECONDS + 1.0
    finally:
        probe.unlink(missing_ok=True)


def _read(directory: Path) -> _Entry | None:
    try:
        return msgspec.json.decode((directory / DRIVER_LEASE).read_bytes(), type=_Entry)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def _name_of(entry: _Entry | None) -> str:
    if entry is None:
        return "process unknown"
    host = "".join(character for character in entry.host if character.isprintable())[:100]
    return f"process {entry.pid} on {host}"
