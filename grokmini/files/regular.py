"""Reading a file that somebody else can put in place: never from what has no end or keeps a reader waiting."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

ASIDE: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""How it is opened: whatever it is, opening waits for nobody and takes no terminal."""


class NotRegularError(OSError):
    """The path is a pipe, a device or a socket, which could be read for ever."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file", str(path))


def regular_status(fd: int, path: str | Path) -> os.stat_result:
    """The status of an open regular file. Raises `IsADirectoryError` or `NotRegularError` for what is none."""
    status = os.fstat(fd)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError(path)
    return status


def open_regular(path: str | Path, *, buffering: int = -1) -> BinaryIO:
    """The file, open for reading. Raises `OSError` as `read_start` does, and waits for nobody."""
    fd = os.open(path, ASIDE)
    try:
        regular_status(fd, path)
        return os.fdopen(fd, "rb", buffering)
    except BaseException:
        os.close(fd)
        raise


def read_start(path: str | Path, limit: int, *, folder: int | None = None, follow: bool = True) -> bytes:
    """The first `limit` bytes of a file, by its path or by its name in an open folder.

    Raises `OSError`: missing, no permission, a folder, a pipe, a device or a socket; without `follow`, a link.
    """
    fd = os.open(path, ASIDE | (0 if follow else os.O_NOFOLLOW), dir_fd=folder)
    try:
        regular_status(fd, path)
        data = b""
        while len(data) < limit and (piece := os.read(fd, limit - len(data))):
            data += piece
        return data
    finally:
        os.close(fd)
