"""Whether what a sandbox was built on has been replaced since.

A mount lies upon a file or folder, and a Landlock rule belongs to one, not to a name: when somebody outside renames
another file over it (as `git config` and editors do) the mount is gone, and a folder made anew is not covered.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable


class Anchors:
    """The files and folders behind some paths, as they are when this is made, there or not.

    Folders are held open, so that their numbers cannot be given to others; of files the time of change counts too.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._known: dict[str, tuple[int, ...]] = {}
        self._held: list[int] = []
        for path in dict.fromkeys(filter(None, paths)):
            self._known[path] = self._hold(path)

    def _hold(self, path: str) -> tuple[int, ...]:
        try:
            held = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:  # not there, no folder, or no descriptor left
            return _identity(path)
        self._held.append(held)
        return _identity(held)

    @property
    def replaced(self) -> bool:
        """Whether one of the paths leads elsewhere by now."""
        return any(_identity(path) != known for path, known in self._known.items())

    def close(self) -> None:
        """Let go."""
        while self._held:
            os.close(self._held.pop())


def _identity(path: str | int) -> tuple[int, ...]:
    """What is there, nothing where there is nothing or nothing for us to see."""
    try:
        info = os.stat(path)
    except OSError:
        return ()
    if stat.S_ISDIR(info.st_mode):
        return (info.st_dev, info.st_ino)
    return (info.st_dev, info.st_ino, info.st_ctime_ns)
