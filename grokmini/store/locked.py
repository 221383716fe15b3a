"""Whether a file is locked by another process. Imports next to nothing: completions look while somebody waits."""

from __future__ import annotations

import fcntl
import os


def is_locked(path: str | os.PathLike[str]) -> bool:
    """Whether somebody holds the exclusive lock of that file; nobody does where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
