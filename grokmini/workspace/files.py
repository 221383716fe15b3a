"""Reading files byte for byte, and folders entry by entry. All of it blocks; call it in a thread."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from grokmini.files.descriptors import FileMovedError
from grokmini.files.regular import ASIDE, regular_status
from grokmini.workspace.gate import UNGATED, Gate

MAX_FILE_BYTES: Final = 50_000_000
"""Files above this are not read whole."""

_TRIES: Final = 20


class FileTooLargeError(OSError):
    """The file is over `MAX_FILE_BYTES`. `size` is its size in bytes."""

    def __init__(self, path: Path, size: int) -> None:
        super().__init__(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        self.size = size


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES, gate: Gate = UNGATED, *, follow: bool = True) -> bytes:
    """The whole file. Raises `OSError`: missing, a folder, no regular file, too large, no permission.

    Without `follow` a link is an error.
    """
    fd = _opened(path, ASIDE | (0 if follow else os.O_NOFOLLOW), gate)
    with os.fdopen(fd, "rb", buffering=0) as file:
        status = regular_status(fd, path)
        if status.st_size > limit:
            raise FileTooLargeError(path, status.st_size)
        data = file.readall()
    if len(data) > limit:
        raise FileTooLargeError(path, len(data))
    return data


def check_readable(path: Path, gate: Gate) -> None:
    """Raise `OSError` unless the file or folder is there and may be read."""
    os.close(_opened(path, ASIDE, gate))


@contextmanager
def listing(
    path: str | Path, gate: Gate = UNGATED, *, follow: bool = True
) -> Iterator[Iterator[os.DirEntry[str]]]:
    """What is in a folder, to be used while it is open: an entry's `path` is its name. Raises `OSError`."""
    fd = _opened(path, os.O_DIRECTORY | ASIDE | (0 if follow else os.O_NOFOLLOW), gate)
    try:
        with os.scandir(fd) as entries:
            yield entries
    finally:
        os.close(fd)


def _opened(path: str | Path, flags: int, gate: Gate) -> int:
    """Open what may be read; what is replaced meanwhile is opened anew."""
    tries = 0
    while True:
        fd = os.open(path, flags)
        try:
            gate.check_read(fd)
        except BaseException as error:
            os.close(fd)
            tries += 1
            if not isinstance(error, FileMovedError) or tries == _TRIES:
                raise
        else:
            return fd
