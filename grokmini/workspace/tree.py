"""A folder as an indented tree within a budget of characters."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.text.paths import visible_path
from grokmini.workspace.gate import UNGATED, Gate
from grokmini.workspace.ignore import IgnoreRules, rules_for
from grokmini.workspace.walk import Entry, LeavesOut, leaves_out_nothing, visible_entries

BUDGET: Final = 10_000
MAX_ENTRIES: Final = 30_000
TOP_KINDS: Final = 3


class Tree(NamedTuple):
    """The drawn tree. `entries` counts what is in the folder itself; `cut` says that some are not shown."""

    text: str
    entries: int
    cut: bool


class _Node:
    def __init__(self, name: str, is_dir: bool, depth: int) -> None:
        self.name = name
        self.is_dir = is_dir
        self.depth = depth
        self.children: list[_Node] = []
        self.open = False
        self.loaded = False
        self.kinds: Counter[str] = Counter()

    def line(self) -> str:
        """The node on one line; a folder that is not open says what is in it."""
        text = f"{'  ' * self.depth}- {self.name}{'/' if self.is_dir else ''}"
        return f"{text} {self.summary()}\n" if self.is_dir and not self.open else f"{text}\n"

    def summary(self) -> str:
        """Such as `[12 files in subtree: 9 *.py, 3 *.md]`."""
        total = self.kinds.total()
        if not total:
            return "[empty]" if self.loaded else "[not counted]"
        named = ", ".join(f"{count} {kind}" for kind, count in self.kinds.most_common(TOP_KINDS))
        return f"[{total} file{'' if total == 1 else 's'} in subtree: {named}]"


def draw_tree(
    top: Path,
    shown: str,
    check: Callable[[], None],
    budget: int = BUDGET,
    leaves_out: LeavesOut = leaves_out_nothing,
    gate: Gate = UNGATED,
) -> Tree:
    """Draw a folder: its own entries first, then, breadth first, each folder that still fits.

    `check` is called on the way and raises to stop. Raises `OSError` when the folder itself cannot be read.
    """
    root = _Node(shown.rstrip("/"), True, 0)
    complete = _load(root, top, check, leaves_out, gate)
    root.open = True
    used = len(root.line())
    fitting: list[_Node] = []
    for child in root.children:
        used += len(child.line())
        if used > budget:
            break
        fitting.append(child)
    cut = len(fitting) < len(root.children)
    total = len(root.children)
    root.children = fitting
    _open_what_fits(root, budget - used)
    parts = [root.line(), *_lines(root)]
    if cut:
        parts.append(f"  ... {total - len(fitting)} more entries\n")
    if not complete:
        parts.append(f"  ... counted {MAX_ENTRIES:,} entries and stopped there\n")
    return Tree("".join(parts), total, cut or not complete)


def _load(root: _Node, top: Path, check: Callable[[], None], leaves_out: LeavesOut, gate: Gate) -> bool:
    """Fill in everything below. False when there was too much."""
    first = Entry(str(top), "", True)
    waiting: deque[tuple[list[_Node], Entry, IgnoreRules]] = deque([([root], first, rules_for(top, gate))])
    seen = 0
    while waiting:
        chain, folder, rules = waiting.popleft()
        check()
        node = chain[-1]
        try:
            entries = visible_entries(folder, rules, leaves_out, gate)
        except OSError:
            if node is root:
                raise
            continue
        node.loaded = True
        for entry in entries:
            name = entry.relative.rpartition("/")[2]
            child = _Node(visible_path(name), entry.is_dir, node.depth + 1)
            node.children.append(child)
            seen += 1
            if entry.is_dir:
                waiting.append(([*chain, child], entry, rules.enter(Path(entry.path))))
            else:
                kind = visible_path(f"*{Path(name).suffix or 'no-ext'}")
                for above in chain:
                    above.kinds[kind] += 1
        if seen > MAX_ENTRIES:
            return False
    return True


def _open_what_fits(root: _Node, room: int) -> None:
    waiting = deque(child for child in root.children if child.is_dir)
    while waiting:
        node = waiting.popleft()
        cost = sum(len(child.line()) for child in node.children) - len(node.summary()) - 1
        if node.children and cost <= room:
            node.open = True
            room -= cost
            waiting.extend(child for child in node.children if child.is_dir)


def _lines(node: _Node) -> list[str]:
    lines: list[str] = []
    for child in node.children:
        lines.append(child.line())
        if child.open:
            lines.extend(_lines(child))
    return lines
