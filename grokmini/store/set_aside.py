"""A record that cannot be read, moved out of the way with all that is in it, so that a new one can begin."""

from __future__ import annotations

import errno
import os
import stat
from itertools import count
from pathlib import Path

UNUSABLE = ".unusable"
"""What is added to the name of a thing that was moved aside; a number follows where there is one already."""

_NOT_OURS = frozenset({errno.EACCES, errno.EPERM, errno.EISDIR, errno.ELOOP, errno.EINVAL})


def is_shut(error: OSError) -> bool:
    """Whether an error is about this one thing (no permission, no file) and not about the disk or this process."""
    return error.errno in _NOT_OURS


def refusal(path: Path) -> OSError | None:
    """Why what is at `path` cannot be read as a file, for its own sake; None when it can, or there is nothing.

    Opens a regular file alone: a pipe would wait for its other end. What the disk or this process has to do with
    is no reason here: it will be met, and told, where the file is used.
    """
    try:
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            return None
    except FileNotFoundError:
        return None
    except OSError as error:
        return error if is_shut(error) else None
    code = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
    text = os.strerror(code) if stat.S_ISDIR(mode) else "Not a file"
    return OSError(code, text, str(path))


def set_aside(path: Path) -> Path:
    """Move what is there beside it under a name that nothing has; which one. Raises `OSError`."""
    names = (path.name + UNUSABLE + (f"-{number}" if number > 1 else "") for number in count(1))
    beside = next(place for place in map(path.with_name, names) if not os.path.lexists(place))
    path.rename(beside)
    return beside
