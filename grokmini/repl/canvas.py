"""What the terminal shows, frame by frame: the painter with its memory. Pure but for that."""

from __future__ import annotations

from collections.abc import Sequence

from grokmini.render.lines import EMPTY, Line
from grokmini.repl.frontier import Frontier
from grokmini.repl.painter import Drawn, LiveView, Size, paint, usable
from grokmini.repl.reflow import Reflow, after_resize


class Canvas:
    """Turns finished lines and the wanted live rows into the bytes of one frame after the other."""

    def __init__(self, *, colour_level: int, links: bool, reflow: Reflow) -> None:
        self._colour_level = colour_level
        self._links = links
        self._reflow = reflow
        self._frontier = Frontier()
        self._blank = 0
        self.drawn = Drawn()

    def forget(self) -> None:
        """The live rows may no longer be what was drawn: the next frame draws all of them."""
        self.drawn = self.drawn._replace(known=False)

    def restart(self) -> None:
        """The cursor stands on a fresh line; what was drawn before is none of our business any more."""
        self._frontier = Frontier()
        self._blank = 0
        self.drawn = Drawn()

    def frame(
        self,
        lines: Sequence[Line],
        live: LiveView,
        size: Size,
        now: float,
        *,
        hold: bool = False,
        settled: bool = True,
    ) -> bytes:
        """Print the lines above the live rows and make these look as wanted; no bytes if all is so already.

        `now` is in seconds on any one clock. With `hold`, finished lines may stay among the redrawn rows for a
        moment (see `Frontier`): that saves bytes while little comes. Unless `settled`, the size may be changing
        right now, and as little as possible is erased.
        """
        size = usable(size)
        known = self.drawn.known
        blank = self._blank + max(0, size.rows - self.drawn.size.rows)
        reflow = self._reflow if settled else Reflow.NONE
        left = after_resize(self.drawn, size, reflow, steady=self._frontier.steady(now), blank=blank)
        self._frontier.lost(left.gone)
        rows = live.rows or (EMPTY,)
        step = self._frontier.step(lines, len(rows), size, now, hold=hold)
        cursor = live.cursor and live.cursor._replace(row=live.cursor.row + len(step.held))
        data, self.drawn = paint(
            left.drawn,
            step.commits,
            LiveView((*step.held, *rows), cursor),
            size,
            colour_level=self._colour_level,
            links=self._links,
            steady=step.steady,
        )
        room = min(size.rows, left.height + blank) if known else size.rows
        self._blank = max(0, room - len(step.commits) - len(self.drawn.rows))
        return data
