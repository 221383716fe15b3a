"""Whether a file is locked by another process. Imports next to nothing: completions look while somebody waits."""

from __future__ import annotations

import errno
import fcntl
import os

NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EINVAL})
"""What flock(2) fails with where files cannot be locked at all, as on some network file systems."""


def is_locked(path: str | os.PathLike[str]) -> bool:
    """Whether somebody holds the exclusive lock of that file; nobody does where there is none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in NO_LOCKS
    finally:
        os.close(descriptor)
    return False
