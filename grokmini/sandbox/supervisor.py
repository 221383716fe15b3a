"""The supervisor of a command as the agent sees it: whether somebody stopped it, and having it go on."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Final

_STATE: Final = 0
_PARENT: Final = 1
_BEGAN: Final = 19
_STOPPED: Final = "T"


class SupervisorOf:
    """The parent that a command has as it begins; known by when it began too, since numbers are given anew."""

    def __init__(self, command: int) -> None:
        told = _stat(command)
        self._pid = int(told[_PARENT]) if told else 0
        self._began = _stat(self._pid)[_BEGAN:][:1]

    @property
    def stopped(self) -> bool:
        """Whether it is there and stopped. False where there is no /proc."""
        told = _stat(self._pid)
        return bool(told) and told[_STATE] == _STOPPED and told[_BEGAN:][:1] == self._began

    def go_on(self) -> None:
        """Have it go on, right after it was seen to be stopped."""
        with suppress(ProcessLookupError, PermissionError):
            os.kill(self._pid, signal.SIGCONT)


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
