"""Files byte for byte: whole reads of regular files, and writes that keep what a file is.

A write goes through symbolic links to their target, keeps mode, owner and extended attributes, keeps hard links
together, and is atomic (a temporary file renamed over the old one) unless that would break one of these. All of
it blocks; call it in a thread.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from grokmini.text.paths import real_path

MAX_FILE_BYTES: Final = 50_000_000
"""Files above this are not read whole."""

_NO_FILE_BESIDE: Final = frozenset({errno.EACCES, errno.EPERM, errno.ENOENT})


class FileTooLargeError(OSError):
    """The file is over `MAX_FILE_BYTES`. `size` is its size in bytes."""

    def __init__(self, path: Path, size: int) -> None:
        super().__init__(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        self.size = size


class NotRegularError(OSError):
    """The path is a pipe, a device or a socket, which could be read for ever."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file", str(path))


def read_bytes(path: Path, limit: int = MAX_FILE_BYTES) -> bytes:
    """The whole file. Raises `OSError`: missing, a folder, no regular file, too large, no permission."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with os.fdopen(fd, "rb", buffering=0) as file:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError(path)
        if status.st_size > limit:
            raise FileTooLargeError(path, status.st_size)
        data = file.readall()
    if len(data) > limit:
        raise FileTooLargeError(path, len(data))
    return data


def write_bytes(path: Path, data: bytes) -> None:
    """Make the file hold exactly `data`, creating it and its folders when missing. Raises `OSError`."""
    target = real_path(path)
    try:
        status = target.stat()
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data, None)
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError(path)
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    if status.st_nlink > 1 or not _replace(target, data, status):
        _overwrite(target, data)


def _replace(target: Path, data: bytes, status: os.stat_result | None) -> bool:
    """Write beside and rename. False when the old file's properties could not be kept that way."""
    temporary = target.parent / f".grokmini-{os.urandom(8).hex()}.tmp"
    try:
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if status is None or error.errno not in _NO_FILE_BESIDE:
            raise
        return False
    try:
        with os.fdopen(fd, "wb", buffering=0) as file:
            _write_all(file.fileno(), data)
            if status is not None and not _take_over(file.fileno(), target, status):
                temporary.unlink()
                return False
        temporary.rename(target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
    return True


def _take_over(fd: int, target: Path, status: os.stat_result) -> bool:
    """Give the new file the old one's owner, mode and attributes; False when that is not allowed."""
    try:
        now = os.fstat(fd)
        if (now.st_uid, now.st_gid) != (status.st_uid, status.st_gid):
            os.fchown(fd, status.st_uid, status.st_gid)
        os.fchmod(fd, stat.S_IMODE(status.st_mode))
        if hasattr(os, "listxattr"):
            for name in os.listxattr(target):
                os.setxattr(fd, name, os.getxattr(target, name))
    except OSError as error:
        return error.errno in (errno.ENOTSUP, errno.ENOSYS)
    return True


def _overwrite(target: Path, data: bytes) -> None:
    """Write in place; when that fails half way, put the old content back."""
    fd = os.open(target, os.O_RDWR | os.O_CLOEXEC)
    with os.fdopen(fd, "r+b", buffering=0) as file:
        old = file.readall()
        try:
            _write_over(file.fileno(), data)
        except OSError:
            with suppress(OSError):
                _write_over(file.fileno(), old)
            raise


def _write_over(fd: int, data: bytes) -> None:
    os.lseek(fd, 0, os.SEEK_SET)
    _write_all(fd, data)
    os.ftruncate(fd, len(data))


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
