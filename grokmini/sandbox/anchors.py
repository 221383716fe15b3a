"""Whether what a sandbox was built on has been replaced since.

A mount lies upon a file or folder, and a Landlock rule belongs to one, not to a name: when somebody outside renames
another file over it (as `git config` and editors do) the mount is gone, and a folder made anew is not covered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress


class Anchors:
    """The files and folders behind some paths, as they are when this is made.

    Folders are held open, so that their numbers cannot be given to others; of files the time of change counts too.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._known: dict[str, tuple[int, ...]] = {}
        self._held: list[int] = []
        for path in dict.fromkeys(paths):
            with suppress(OSError):  # not there, or not for us to see
                self._hold(path)

    def _hold(self, path: str) -> None:
        info = os.stat(path)  # noqa: PTH116 - before each command, of each path
        if stat.S_ISDIR(info.st_mode) and hasattr(os, "O_PATH"):
            self._held.append(os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))
            info = os.fstat(self._held[-1])
        self._known[path] = _identity(info)

    @property
    def replaced(self) -> bool:
        """Whether one of the paths leads elsewhere by now."""
        try:
            return any(_identity(os.stat(path)) != known for path, known in self._known.items())  # noqa: PTH116 - see above
        except OSError:
            return True

    def close(self) -> None:
        """Let go."""
        while self._held:
            os.close(self._held.pop())


def _identity(info: os.stat_result) -> tuple[int, ...]:
    if stat.S_ISDIR(info.st_mode):
        return (info.st_dev, info.st_ino)
    return (info.st_dev, info.st_ino, info.st_ctime_ns)
