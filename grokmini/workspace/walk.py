"""Walking a folder without what is hidden or ignored, within a time limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

from grokmini.workspace.files import listing
from grokmini.workspace.gate import UNGATED, Gate
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
    top: Path,
    check: Callable[[], None],
    leaves_out: LeavesOut = leaves_out_nothing,
    gate: Gate = UNGATED,
) -> Iterator[Entry]:
    """Every visible file below a folder, in the order of names, links to folders not followed.

    `check` is called for each folder and raises to stop the walk. Folders that cannot be read are passed over.
    """
    waiting: list[tuple[Entry, IgnoreRules]] = [(Entry(str(top), "", True), rules_for(top, gate))]
    while waiting:
        folder, rules = waiting.pop()
        check()
        below: list[tuple[Entry, IgnoreRules]] = []
        try:
            entries = visible_entries(folder, rules, leaves_out, gate)
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir:
                below.append((entry, rules.enter(Path(entry.path))))
            else:
                yield entry
        waiting.extend(reversed(below))


def visible_entries(folder: Entry, rules: IgnoreRules, leaves_out: LeavesOut, gate: Gate) -> list[Entry]:
    """What a folder holds, sorted by name ignoring case, without hidden and ignored entries.

    Where the walk begins (its `relative` is empty) the folder may be a link. Raises `OSError`.
    """
    found = []
    prefix = f"{folder.relative}/" if folder.relative else ""
    with listing(folder.path, gate, follow=not prefix) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            path = f"{folder.path.rstrip('/')}/{entry.name}"
            is_dir = entry.is_dir(follow_symlinks=False)
            if not rules.ignores(path, is_dir=is_dir) and not leaves_out(path):
                found.append(Entry(path, prefix + entry.name, is_dir))
    return sorted(found, key=lambda one: (one.relative.casefold(), one.relative))
