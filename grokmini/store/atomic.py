"""Whole files replaced in one step: a reader sees the old content or the new one, never half."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from grokmini.store.layout import open_private, sync, sync_directory

_BLOCK = 1 << 20


def replace_file(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write beside the file, sync, rename over it. Raises `OSError`; the old file is then untouched."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    pieces = (data,) if isinstance(data, bytes) else data
    try:
        descriptor = open_private(temporary, os.O_WRONLY | os.O_TRUNC)
        try:
            _write_all(descriptor, pieces)
            sync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def remove_leftovers(path: Path) -> None:
    """Remove what those left who were killed while they replaced the file. Nobody may be replacing it now."""
    for left in path.parent.glob(f".{path.name}.*.tmp"):
        with suppress(OSError):
            left.unlink()


def _write_all(descriptor: int, pieces: Iterable[bytes]) -> None:
    block = bytearray()
    for piece in pieces:
        block += piece
        if len(block) >= _BLOCK:
            _write(descriptor, block)
            block.clear()
    _write(descriptor, block)


def _write(descriptor: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    view.release()
