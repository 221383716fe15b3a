"""Copies of files that cost no room where the file system can share blocks."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import BinaryIO

from grokmini.store.layout import make_private_directory, open_private, sync

FICLONE = 0x40049409
"""The request number of Linux for "share all blocks of that file" (ioctl_ficlone(2))."""


def copy_private(source: BinaryIO, target: Path, *, size: int | None = None) -> None:
    """Copy the first `size` bytes of a file (all of it by default) to a new one that only its owner can read.

    Blocks are shared where the file system can. Raises `OSError`; half a copy is removed.
    """
    descriptor = open_private(target, os.O_WRONLY | os.O_EXCL)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if not _share_blocks(source.fileno(), file.fileno()):
                source.seek(0)
                shutil.copyfileobj(source, file, 1 << 20)
                file.flush()
            if size is not None:
                os.ftruncate(file.fileno(), size)
            sync(file.fileno())
    except OSError:
        target.unlink(missing_ok=True)
        raise


def copy_file(source: Path, target: Path) -> None:
    """Copy a whole file as `copy_private` does. Raises `OSError`."""
    with source.open("rb") as opened:
        copy_private(opened, target)


def copy_tree(source: Path, target: Path) -> None:
    """Copy a directory of plain files, as deep as it goes; links are not followed. Raises `OSError`."""
    make_private_directory(target)
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                copy_tree(source / entry.name, target / entry.name)
            elif entry.is_file(follow_symlinks=False):
                copy_file(source / entry.name, target / entry.name)


def _share_blocks(source: int, target: int) -> bool:
    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError:
        return False
    return True
