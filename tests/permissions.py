"""What an ordinary user may not do, when root runs the tests."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION = 0x20080522
_EVERYTHING_READABLE = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH of capabilities(7)."""


@contextmanager
def held_to_permissions() -> Iterator[None]:
    """What this thread, and those it starts, opens meets the permissions of files and folders, as another user's would.

    A process that is started has what root has.
    """
    if os.geteuid() != 0:
        yield
        return
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    libc = ctypes.CDLL(None, use_errno=True)

    def call(name: str) -> None:
        if getattr(libc, name)(header, sets) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)

    call("capget")
    effective = sets[0]
    sets[0] = effective & ~_EVERYTHING_READABLE
    call("capset")
    try:
        yield
    finally:
        sets[0] = effective
        call("capset")
