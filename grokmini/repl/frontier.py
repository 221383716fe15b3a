"""The last finished lines, which may still stand among the live rows for a moment.

A line that grew in place while it was live is not printed again when it is final: it stays where it is. But the
terminal may have got another size that we have not been told of yet, and then it was drawn in a wrong place. So
it counts as live until it has stood for longer than such news takes, and is drawn again if a resize comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from grokmini.render.lines import Line
from grokmini.repl.doubt import fit
from grokmini.repl.painter import Size

SETTLE_SECONDS = 0.5
"""How long a line has to stand: twice what tmux may keep the news of a resize back."""

MAX_HELD = 10
"""Rows; beyond that lines are printed for good at once."""


class Step(NamedTuple):
    """What a frame does: lines to be printed for good, `steady` of them by leaving rows as they are, and rows
    that stand above the live ones."""

    commits: tuple[Line, ...]
    steady: int
    held: tuple[Line, ...]


class Frontier:
    """Holds lines back. Times are in seconds on any one clock."""

    def __init__(self) -> None:
        self._held: list[tuple[Line, float]] = []

    def steady(self, now: float) -> int:
        """How many lines, the first of the live rows, have stood for so long that they are right as they are."""
        return sum(1 for _, since in self._held if now - since >= SETTLE_SECONDS)

    def lost(self, rows: int) -> None:
        """That many first rows have left the screen: they are what they are."""
        del self._held[:rows]

    def step(self, lines: Sequence[Line], live_rows: int, size: Size, now: float, *, hold: bool) -> Step:
        """Take finished lines that are new. With `hold` they stay among the live rows where there is room."""
        steady = self.steady(now)
        settled = tuple(line for line, _ in islice(self._held, steady))
        rest = [*self._held[steady:], *((line, now) for line in lines)]
        room = min(MAX_HELD, size.rows - 1 - live_rows)
        if hold and len(rest) <= room and all(_is_one_row(line, size.columns) for line, _ in rest):
            self._held = rest
            return Step(settled, steady, tuple(line for line, _ in rest))
        self._held = []
        return Step((*settled, *(line for line, _ in rest)), steady, ())


def _is_one_row(line: Line, columns: int) -> bool:
    return fit(line, columns) is line
