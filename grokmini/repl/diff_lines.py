"""A unified diff as lines in colour."""

from __future__ import annotations

from grokmini.render.lines import PLAIN, Line, Style, line_of
from grokmini.render.look import ADDED, DIM, REMOVED


def diff_lines(diff: str, indent: str = "") -> list[Line]:
    """The rows of the diff, added ones green and removed ones red; their signs say it, too."""
    rows = diff.split("\n") if diff else []
    if rows and not rows[-1]:
        rows.pop()
    return [line_of(indent + row, _style(row)) for row in rows]


def change_lines(diff: str, indent: str = "") -> list[Line]:
    """The same for the diff of one file that has been named already: without the rows that name it."""
    lines = diff_lines(diff, indent)
    return lines[2:] if diff.startswith("--- ") else lines


def _style(row: str) -> Style:
    if row.startswith("+"):
        return ADDED
    if row.startswith("-"):
        return REMOVED
    return DIM if row.startswith("@@") else PLAIN
