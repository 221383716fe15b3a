"""Reading a file that somebody else can put in place: never from what has no end or keeps a reader waiting."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_ASIDE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def read_start(path: str | Path, limit: int, *, folder: int | None = None, follow: bool = True) -> bytes:
    """The first `limit` bytes of a file, by its path or by its name in an open folder.

    Raises `OSError`: missing, no permission, a folder, a pipe, a device or a socket; without `follow`, a link.
    """
    fd = os.open(path, _ASIDE | (0 if follow else os.O_NOFOLLOW), dir_fd=folder)
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        data = b""
        while len(data) < limit and (piece := os.read(fd, limit - len(data))):
            data += piece
        return data
    finally:
        os.close(fd)
