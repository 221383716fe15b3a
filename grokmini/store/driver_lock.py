"""One process drives a session: an OS lock that dies with the process (spec: "One driver per session")."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from grokmini.protocol.errors import SessionError
from grokmini.store.layout import DRIVER_LOCK, open_private

_POLL_SECONDS = 0.05
_LEAST_ATTEMPTS = 3
"""A probe by another process holds a shared lock for an instant; one refusal proves nothing."""


class SessionBusyError(SessionError):
    """Another process drives the session. `holder` says which, as far as it is known."""

    def __init__(self, session_id: str, holder: str) -> None:
        super().__init__(
            f"Session {session_id} is open in another grokmini ({holder}).",
            "Leave it there first (/quit), or start a new session here.",
        )
        self.holder = holder


class DriverLock:
    """The held lock of one session directory."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, directory: Path) -> DriverLock:
        """Become the driver. Whoever wants to wait for another process asks again.

        Raises `SessionBusyError` naming the holder, `OSError` when no lock file can be made.
        """
        descriptor = open_private(directory / DRIVER_LOCK, os.O_RDWR)
        attempts = 0
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                attempts += 1
                if attempts >= _LEAST_ATTEMPTS:
                    holder = read_holder(directory)
                    os.close(descriptor)
                    raise SessionBusyError(directory.name, holder) from None
                time.sleep(_POLL_SECONDS)
            except OSError:
                os.close(descriptor)
                raise
        _sign(descriptor)
        return cls(descriptor)

    def release(self) -> None:
        """Let another process drive."""
        os.close(self._descriptor)


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
    return read_holder(directory) if is_driven(directory) else None


def is_driven(directory: Path) -> bool:
    """Whether some process drives the session right now."""
    try:
        descriptor = os.open(directory / DRIVER_LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
