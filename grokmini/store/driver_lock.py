"""One process drives a session: an OS lock that dies with the process (spec: "One driver per session")."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from grokmini.protocol.errors import SessionError
from grokmini.store.file_system import is_remote
from grokmini.store.layout import DRIVER_LEASE, DRIVER_LOCK, is_named, open_private
from grokmini.store.lease import Lease, LeaseHeldError, live_holder
from grokmini.store.locked import NO_LOCKS, is_locked

_POLL_SECONDS = 0.05
_LEAST_ATTEMPTS = 3
"""A probe by another process holds a shared lock for an instant; one refusal proves nothing."""
_MOST_OPENINGS = 3
"""Some network file systems never give a file the same number twice: there no opening is found good."""


class SessionBusyError(SessionError):
    """Another process drives the session. `holder` says which, as far as it is known."""

    def __init__(self, session_id: str, holder: str) -> None:
        super().__init__(
            f"Session {session_id} is open in another grokmini ({holder}).",
            "Leave it there first (/quit), or start a new session here.",
        )
        self.holder = holder


class DriverLock:
    """The held lock of one session directory; where locks cannot be trusted a lease beside it."""

    def __init__(self, directory: Path, descriptor: int, lease: Lease | None) -> None:
        self._directory = directory
        self._descriptor = descriptor
        self._lease = lease
        self._named = is_named(descriptor, directory / DRIVER_LOCK)

    @classmethod
    def acquire(cls, directory: Path, *, remote: bool | None = None) -> DriverLock:
        """Become the driver. Whoever wants to wait for another process asks again.

        `remote` says whether the directory is on a network file system; by default that is found out. A file system
        without locks is treated as one. Raises
        `SessionBusyError` naming the holder, `OSError` when no lock file can be made: `FileNotFoundError` where the
        session was deleted meanwhile.
        """
        descriptor, is_held = _locked(directory)
        try:
            lease = _lease_of(directory, not is_held or (is_remote(directory) if remote is None else remote))
        except BaseException:
            os.close(descriptor)
            raise
        _sign(descriptor)
        return cls(directory, descriptor, lease)

    @property
    def by_lease(self) -> bool:
        """Whether it holds by a lease, since locks may not be seen by other hosts."""
        return self._lease is not None

    def is_lost(self) -> bool:
        """Whether the session's directory, or the lock file in it, was moved or removed: it keeps nobody off now."""
        path = self._directory / DRIVER_LOCK
        return not is_named(self._descriptor, path) if self._named else not self._directory.is_dir()

    def refresh(self) -> None:
        """Keep the lease alive. Raises `SessionBusyError` when another process has taken it over, `OSError`."""
        if self._lease is None:
            return
        try:
            self._lease.refresh()
        except LeaseHeldError as error:
            raise SessionBusyError(self._directory.name, str(error)) from error

    def release(self) -> None:
        """Let another process drive."""
        if self._lease is not None:
            self._lease.release()
        with suppress(OSError):  # closing alone would leave it to a child that is being born just now
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        os.close(self._descriptor)


def _locked(directory: Path) -> tuple[int, bool]:
    """The lock file, and whether it is locked: not every file system can.

    One that lost its name before it was locked holds nobody off: it is opened again.
    """
    path = directory / DRIVER_LOCK
    for left in reversed(range(_MOST_OPENINGS)):
        descriptor = open_private(path, os.O_RDWR)
        try:
            is_held = _lock(descriptor, directory)
        except BaseException:
            os.close(descriptor)
            raise
        if is_named(descriptor, path) or not left:
            break
        os.close(descriptor)
    return descriptor, is_held


def _lock(descriptor: int, directory: Path) -> bool:
    """Lock it; False where there are no locks. Raises `SessionBusyError`, `OSError`."""
    attempts = 0
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            attempts += 1
            if attempts >= _LEAST_ATTEMPTS:
                raise SessionBusyError(directory.name, read_holder(directory)) from None
            time.sleep(_POLL_SECONDS)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            return False


def _lease_of(directory: Path, remote: bool) -> Lease | None:
    """A lease where one is needed. Everybody minds one that is alive: whoever holds it may see no locks."""
    try:
        if remote:
            return Lease.acquire(directory)
        other = live_holder(directory) if (directory / DRIVER_LEASE).exists() else None
    except LeaseHeldError as error:
        other = str(error)
    if other is not None:
        raise SessionBusyError(directory.name, other)
    return None


def _sign(descriptor: int) -> None:
    """Say who holds the lock. Only for people: nothing is decided by it, so a full disk is no matter."""
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()} {os.uname().nodename}\n".encode(), 0)
    except OSError:
        pass  # the lock holds without the text


def read_holder(directory: Path) -> str:
    """`process PID on HOST` as the holder wrote it."""
    try:
        text = (directory / DRIVER_LOCK).read_text("utf-8", "replace")[:300]
    except OSError:
        text = ""
    pid, _, host = text.strip().partition(" ")
    if not pid.isdecimal():
        return "process unknown"
    printable = "".join(character for character in host if character.isprintable())
    return f"process {pid} on {printable}" if printable else f"process {pid}"


def holder(directory: Path) -> str | None:
    """Who drives the session, as `process PID on HOST`; None when nobody does."""
    if is_locked(directory / DRIVER_LOCK):
        return read_holder(directory)
    try:
        return live_holder(directory) if (directory / DRIVER_LEASE).exists() else None
    except OSError:
        return None


def is_driven(directory: Path) -> bool:
    """Whether some process drives the session right now."""
    return holder(directory) is not None
