"""Where the characters of a draft stand on the screen: wrapped by graphemes, nothing ever moves sideways.

A draft may hold chips (`paste_chips`); each is one unit, shown by its label. One column is left free at the
right where there is room, so that the cursor behind the last character of a row has a cell.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from grokmini.text.sanitise import sanitise
from grokmini.text.width import cell_width, cut_to_width, graphemes

TAB_SHOWN = "    "
_PARTS = re.compile("([\ud800-\udfff\t])")
_MANY_LINES = 20_000
_NEAR = 64
"""Characters around the cursor among which a grapheme is looked for."""


class Unit(NamedTuple):
    """What the cursor steps over at once. `start` counts characters from the beginning of its line."""

    start: int
    shown: str
    cells: int


class Row(NamedTuple):
    """One row of the screen: the characters `start` to `end` of the draft (its newline is behind the end)."""

    start: int
    end: int


class Place(NamedTuple):
    """A row, and a column in cells from where text begins."""

    row: int
    column: int


def units_of(text: str, room: int, label: Callable[[str], str]) -> Iterator[Unit]:
    """The units of a text without newlines; none is wider than `room` cells (at least 1)."""
    at = 0
    for part in _PARTS.split(text):
        if _PARTS.fullmatch(part):
            shown = TAB_SHOWN if part == "\t" else label(part)
            yield _fitting(at, shown, room)
            at += 1
            continue
        for cluster in graphemes(part):
            yield _fitting(at, sanitise(cluster, newlines=False), room)
            at += len(cluster)


def _fitting(start: int, shown: str, room: int) -> Unit:
    cells = cell_width(shown)
    if cells > room:
        shown = cut_to_width(shown, room)
        cells = cell_width(shown)
    return Unit(start, shown, cells)


class Wrapper:
    """Wraps drafts. Lines that did not change since the last time cost nothing again."""

    def __init__(self, label: Callable[[str], str]) -> None:
        self.label = label
        self._room = 0
        self._known: dict[str, tuple[int, ...]] = {}

    def wrap(self, text: str, room: int) -> Layout:
        """The rows of a draft when each may take `room` cells (at least 1)."""
        if room != self._room or len(self._known) > _MANY_LINES:
            self._known.clear()
            self._room = room
        starts: list[int] = []
        at = 0
        for line in text.split("\n"):
            if not (line.isascii() and line.isprintable()):
                starts.extend(at + start for start in self._starts(line))
            elif len(line) <= room:
                starts.append(at)
            else:
                starts.extend(range(at, at + len(line), room))
            at += len(line) + 1
        return Layout(text, starts, room, self.label)

    def _starts(self, line: str) -> tuple[int, ...]:
        """Where the rows of a line begin in it."""
        known = self._known.get(line)
        if known is None:
            starts, used = [0], 0
            for unit in units_of(line, self._room, self.label):
                if used + unit.cells > self._room:
                    starts.append(unit.start)
                    used = 0
                used += unit.cells
            known = self._known[line] = tuple(starts)
        return known


class Layout:
    """A wrapped draft. `starts` says where its rows begin."""

    def __init__(self, text: str, starts: Sequence[int], room: int, label: Callable[[str], str]) -> None:
        self.text = text
        self.room = room
        self._starts = starts
        self._label = label

    def __len__(self) -> int:
        """How many rows there are; at least one."""
        return len(self._starts)

    def row(self, number: int) -> Row:
        """One of the rows."""
        start = self._starts[number]
        if number + 1 == len(self._starts):
            return Row(start, len(self.text))
        following = self._starts[number + 1]
        return Row(start, following - (self.text[following - 1] == "\n"))

    def units(self, row: Row) -> Iterator[Unit]:
        """The units of a row; their `start` counts from the beginning of the draft."""
        for unit in units_of(self.text[row.start : row.end], self.room, self._label):
            yield unit._replace(start=row.start + unit.start)

    def row_of(self, index: int) -> int:
        """The row in which the character at `index` stands (the end of the draft is in the last one)."""
        return bisect_right(self._starts, index) - 1

    def place_of(self, index: int) -> Place:
        """Where the cursor stands when it is before the character at `index`."""
        row = self.row_of(index)
        column = 0
        for unit in self.units(self.row(row)):
            if unit.start >= index:
                break
            column += unit.cells
        return Place(row, column)

    def index_at(self, place: Place) -> int:
        """The character nearest to a place in an existing row, not behind its last cell."""
        row = self.row(place.row)
        column = 0
        last = row.start
        for unit in self.units(row):
            if column + unit.cells > place.column:
                return unit.start
            column += unit.cells
            last = unit.start
        ends_line = row.end == len(self.text) or self.text[row.end] == "\n"
        return row.end if ends_line else last


def boundary(text: str, index: int, *, forward: bool) -> int:
    """The index itself, or if it lies inside a grapheme, that one's end (`forward`) or its beginning."""
    start = max(text.rfind("\n", 0, index) + 1, index - _NEAR)
    near = text[start : index + _NEAR]
    if near.isascii():
        return index
    at = start
    for cluster in graphemes(near):
        following = at + len(cluster)
        if at < index < following:
            return following if forward else at
        if at >= index:
            break
        at = following
    return index
