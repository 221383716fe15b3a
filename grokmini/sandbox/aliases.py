"""The other names of a file, looked for where commands can have given it one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final

MOST: Final = 50_000
"""Names that are looked at for one file."""


def other_names(path: str, roots: Iterable[str]) -> tuple[str, ...]:
    """The further names (hard links) that a file has below the nearest of the roots that it lies in. Blocks.

    Each root is a mount of its own for commands, and the kernel gives no file a name across mounts.
    """
    around = [root for root in roots if path.startswith(root.rstrip("/") + "/")]
    if not around:
        return ()
    wanted = os.lstat(path)
    found = []
    for entry in _files(max(around, key=len)):
        if entry.inode() == wanted.st_ino and entry.path != path:
            try:
                same = os.path.samestat(entry.stat(follow_symlinks=False), wanted)
            except OSError:
                continue
            if same:
                found.append(entry.path)
    return tuple(sorted(found))


def _files(top: str) -> Iterator[os.DirEntry[str]]:
    """What lies below a folder and is none, those that are near first; no further than `MOST` names."""
    waiting, left = [top], MOST
    for folder in waiting:  # which grows meanwhile
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except OSError:
            continue
        left -= len(listed)
        if left < 0:
            return
        for entry in listed:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry
