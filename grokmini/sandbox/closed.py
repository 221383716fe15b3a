"""Folders that are closed: our own, which who owns them, and so a command, can open again at any time; and those of
others, which are closed to commands even where root may look into them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_LISTS: Final = "system.posix_acl_access"
"""Where a folder says in more detail who may do what."""


def closed_folder(path: str) -> str:
    """The folder on the way to a real path that keeps us from looking there and that is ours; empty for none."""
    if _is_seen(path):
        return ""
    above = next((parent for parent in map(str, Path(path).parents) if _is_seen(parent)), "/")
    return above if is_own(above) else ""


def may_be_there(path: str) -> bool:
    """Whether something is at a path, or can be in a folder of ours that we may not look into."""
    try:
        os.stat(path)
    except PermissionError:
        return bool(closed_folder(os.path.realpath(path)))
    except (OSError, ValueError):
        return False
    return True


def is_own(path: str) -> bool:
    """Whether what is there is ours, as far as one may look."""
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def _is_seen(path: str) -> bool:
    try:
        os.lstat(path)
    except PermissionError:
        return False
    except OSError:
        return True
    return True


def closed_by_others(path: str) -> str:
    """The folder on the way to a real path that another user owns and keeps closed, so that no command of root's gets
    there, which has no rights over what is another's: bubblewrap could not make a mount there either. Empty for none.
    """
    if os.geteuid() != 0:
        return ""
    groups = {os.getegid(), *os.getgroups()}
    for folder in reversed(Path(path).parents):
        try:
            info = os.stat(folder)
            mode = info.st_mode >> 3 if info.st_gid in groups else info.st_mode
            if info.st_uid != 0 and not mode & 1 and _LISTS not in os.listxattr(folder):
                return str(folder)
        except OSError:
            return ""
    return ""
