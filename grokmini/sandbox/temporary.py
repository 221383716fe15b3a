"""Which folders count as temporary ones, so that every profile lets commands write them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import Final

from grokmini.text.below import is_below, is_below_any

TEMPORARY: Final = ("/tmp", "/var/tmp")
_SYSTEM: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/boot", "/dev", "/proc", "/sys",
    "/var/lib", "/var/spool", "/var/cache", "/var/log",
)  # fmt: skip
_SHARED_MEMORY: Final = "/dev/shm"


def why_not_temporary(path: str, home: str, cwd: str, own: Iterable[str]) -> str:
    """Why a folder that `TMPDIR` names, by its real path, is none for temporary files, in words; empty when it is.

    `own` are our own folders. What lies in a temporary folder anyway is always one.
    """
    if is_below_any(path, map(os.path.realpath, TEMPORARY)):
        return ""
    for what, inside in (("your home folder", home), ("the folder worked in", cwd)):
        if is_below(os.path.realpath(inside), path):
            return f"it is {what}, or holds it"
    for inside in map(os.path.realpath, filter(None, own)):
        if is_below(inside, path) or is_below(path, inside):
            return f"{inside} is grokmini's own"
    if path != _SHARED_MEMORY and (is_below_any(path, _SYSTEM) or any(is_below(one, path) for one in _SYSTEM)):
        return "it belongs to the system"
    if os.path.dirname(path) == "/" and not _is_shared(path):
        return "it lies right below / and is not for everybody's temporary files"
    return ""


def _is_shared(path: str) -> bool:
    """Whether everybody may make files in it, and remove only their own."""
    try:
        return bool(os.stat(path).st_mode & stat.S_ISVTX)
    except OSError:
        return False
