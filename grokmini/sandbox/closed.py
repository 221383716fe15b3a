"""Folders of our own that we may not look into: who owns one, and so a command, can open it again at any time."""

from __future__ import annotations

import os
from pathlib import Path


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
