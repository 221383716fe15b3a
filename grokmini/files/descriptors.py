"""Where an open file or folder is: asked of the kernel, since a path can change its meaning at any time."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from typing import Final

O_PATH: Final[int] = getattr(os, "O_PATH", os.O_RDONLY)
FOLDER: Final = O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
"""How a folder is opened to work relative to it."""
_DELETED: Final = " (deleted)"
_F_GETPATH: Final = 50
_MAX_PATH: Final = 1_024


class FileMovedError(OSError):
    """What was opened is not there any more: it was moved, replaced or deleted at that moment."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ESTALE, "it was moved or replaced at that moment", path)


def place_of(fd: int) -> str:
    """The real path of an open file or folder. Raises `FileMovedError` when it has none."""
    if sys.platform == "darwin":
        return _place_on_macos(fd)
    path = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - a text, and no path made of it
    if not path.startswith("/") or (path.endswith(_DELETED) and not is_at(fd, path)):
        raise FileMovedError(path)
    return path


def _place_on_macos(fd: int) -> str:
    import fcntl

    return os.fsdecode(fcntl.fcntl(fd, _F_GETPATH, bytes(_MAX_PATH)).partition(b"\0")[0])


def is_at(fd: int, path: str, *, folder: int | None = None) -> bool:
    """Whether what is open is the very thing at that path (a link is not followed)."""
    try:
        there = os.stat(path, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return os.path.samestat(there, os.fstat(fd))


def open_straight(path: str, flags: int = FOLDER) -> int:
    """A descriptor of what is at a real path, through no link whatever somebody puts there meanwhile.

    A link at its very end is opened itself where the flags name no folder and hold `O_PATH`. Raises `OSError`.
    """
    fd = os.open("/", FOLDER)
    for name in filter(None, path.split("/")):
        try:
            below = os.open(name, flags | os.O_NOFOLLOW, dir_fd=fd)
        finally:
            os.close(fd)
        fd = below
    return fd


def folders_above(fd: int) -> Iterator[os.stat_result]:
    """What an open file or folder lies in, from itself up: of the very thing, whatever is renamed above it meanwhile.

    Raises `FileMovedError` for a file that is not where it was opened any more, `OSError` for a folder that cannot
    be entered or lies too deep.
    """
    is_folder = stat.S_ISDIR(os.fstat(fd).st_mode)
    start = fd if is_folder else _folder_of(fd)
    try:
        status, path = os.stat(".", dir_fd=start), ".."
        yield status
        while not os.path.samestat(above := os.stat(path, dir_fd=start), status):
            yield above
            status, path = above, f"{path}/.."
    finally:
        if not is_folder:
            os.close(start)


def _folder_of(fd: int) -> int:
    path = place_of(fd)
    above, name = os.path.split(path)
    folder = os.open(above, FOLDER)
    if is_at(fd, name, folder=folder):
        return folder
    os.close(folder)
    raise FileMovedError(path)
