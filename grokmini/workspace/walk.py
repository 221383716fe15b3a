"""Walking a folder without what is hidden or ignored, within a time limit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from grokmini.workspace.ignore import IgnoreRules, rules_for

LeavesOut: TypeAlias = Callable[[str], bool]
"""Says of an absolute path that it is to be left out, whatever it is."""


def leaves_out_nothing(path: str) -> bool:
    """Leave out nothing."""
    return False


class Entry(NamedTuple):
    """A file or folder met on the way. `relative` is its path from where the walk began."""

    path: str
    relative: str
    is_dir: bool


def walk_files(
    top: Path, check: Callable[[], None], leaves_out: LeavesOut = leaves_out_nothing
) -> Iterator[Entry]:
    """Every visible file below a folder, in the order of names, links to folders not followed.

    `check` is called for each folder and raises to stop the walk. Folders that cannot be read are passed over.
    """
    waiting: list[tuple[str, str, IgnoreRules]] = [(str(top), "", rules_for(top))]
    while waiting:
        folder, prefix, rules = waiting.pop()
        check()
        below: list[tuple[str, str, IgnoreRules]] = []
        for entry in visible_entries(folder, prefix, rules, leaves_out):
            if entry.is_dir:
                below.append((entry.path, f"{entry.relative}/", rules.enter(Path(entry.path))))
            else:
                yield entry
        waiting.extend(reversed(below))


def visible_entries(
    folder: str, prefix: str, rules: IgnoreRules, leaves_out: LeavesOut = leaves_out_nothing
) -> list[Entry]:
    """What a folder holds, sorted by name ignoring case, without hidden and ignored entries."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                is_dir = entry.is_dir(follow_symlinks=False)
                if not rules.ignores(entry.path, is_dir=is_dir) and not leaves_out(entry.path):
                    found.append(Entry(entry.path, prefix + entry.name, is_dir))
    except OSError:
        return []
    return sorted(found, key=lambda one: (one.relative.casefold(), one.relative))
