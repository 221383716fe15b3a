"""Writing files without changing what they are, and nowhere else than where it was looked.

A write goes through symbolic links to their target, keeps mode, owner and extended attributes, keeps hard links
together, and is atomic (a temporary file renamed over the old one) unless that would break one of these. The folder
is opened once, the gate is asked about it, and everything else is done relative to it: so a path that changes its
meaning meanwhile changes nothing. All of it blocks; call it in a thread.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.files.descriptors import FOLDER
from grokmini.files.regular import NotRegularError, regular_status
from grokmini.workspace.gate import UNGATED, Gate

MAX_LINKS: Final = 40
_NO_FILE_BESIDE: Final = frozenset({errno.EACCES, errno.EPERM, errno.ENOENT})


class _Spot(NamedTuple):
    """A name in an open folder. `path` is what was asked for, for errors."""

    folder: int
    name: str
    path: Path


def write_bytes(path: Path, data: bytes, gate: Gate = UNGATED) -> None:
    """Make the file hold exactly `data`, creating it and its folders when missing. Raises `OSError`."""
    wanted, base = str(path), None
    with ExitStack() as opened:
        for _ in range(MAX_LINKS):
            above, name = os.path.split(wanted)
            folder = _folder(above, base, gate)
            opened.callback(os.close, folder)
            if name in ("", ".", ".."):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            target = _link_target(name, folder)
            if target is None:
                _write(_Spot(folder, name, path), data, gate)
                return
            wanted, base = target, folder
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _folder(path: str, base: int | None, gate: Gate) -> int:
    """Open a folder, starting from an open one; what is missing on the way is made if the gate lets it."""
    missing: list[str] = []
    while True:
        try:
            folder = os.open(path or ".", FOLDER, dir_fd=base)
            break
        except FileNotFoundError:
            above, name = os.path.split(path.rstrip("/"))
            if name in ("", ".", ".."):
                raise
            path = above
            missing.append(name)
    for name in reversed(missing):
        try:
            below = _made(folder, name, gate)
        finally:
            os.close(folder)
        folder = below
    return folder


def _made(folder: int, name: str, gate: Gate) -> int:
    """Open a folder in another that was missing a moment ago; a link that leads to nothing yet is followed."""
    target = _link_target(name, folder)
    if target is not None:
        return _folder(target, folder, gate)
    gate.check_make(folder, name)
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=folder)
    return os.open(name, FOLDER | os.O_NOFOLLOW, dir_fd=folder)


def _link_target(name: str, folder: int) -> str | None:
    """What a symbolic link says; None for all else, there or not."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def _write(spot: _Spot, data: bytes, gate: Gate) -> None:
    gate.check_write(spot.folder, spot.name)
    try:
        status = os.stat(spot.name, dir_fd=spot.folder, follow_symlinks=False)
    except FileNotFoundError:
        _replace(spot, data, None)
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(spot.path))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularError(spot.path)
    if not os.access(spot.name, os.W_OK, dir_fd=spot.folder):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(spot.path))
    if status.st_nlink > 1 or not _replace(spot, data, status):
        _overwrite(spot, data, gate)


def _replace(spot: _Spot, data: bytes, status: os.stat_result | None) -> bool:
    """Write beside and rename. False when the old file's properties could not be kept that way."""
    folder, temporary = spot.folder, f".grokmini-{os.urandom(8).hex()}.tmp"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(temporary, flags, 0o666, dir_fd=folder)
    except OSError as error:
        if status is None or error.errno not in _NO_FILE_BESIDE:
            raise OSError(error.errno, error.strerror, str(spot.path)) from error
        return False
    try:
        with os.fdopen(fd, "wb", buffering=0) as file:
            _write_all(file.fileno(), data)
            if status is not None and not _take_over(file.fileno(), spot, status):
                os.unlink(temporary, dir_fd=folder)
                return False
        os.rename(temporary, spot.name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    return True


def _take_over(fd: int, spot: _Spot, status: os.stat_result) -> bool:
    """Give the new file the old one's owner, mode and attributes; False when that is not allowed."""
    try:
        now = os.fstat(fd)
        if (now.st_uid, now.st_gid) != (status.st_uid, status.st_gid):
            os.fchown(fd, status.st_uid, status.st_gid)
        os.fchmod(fd, stat.S_IMODE(status.st_mode))
        if hasattr(os, "listxattr"):
            old = f"/proc/self/fd/{spot.folder}/{spot.name}"  # these calls take no open folder
            for name in os.listxattr(old, follow_symlinks=False):
                os.setxattr(fd, name, os.getxattr(old, name, follow_symlinks=False))
    except OSError as error:
        return error.errno in (errno.ENOTSUP, errno.ENOSYS)
    return True


def _overwrite(spot: _Spot, data: bytes, gate: Gate) -> None:
    """Write in place; when that fails half way, put the old content back."""
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    fd = os.open(spot.name, flags, dir_fd=spot.folder)
    with os.fdopen(fd, "r+b", buffering=0) as file:
        regular_status(fd, spot.path)
        gate.check_overwrite(fd)
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
