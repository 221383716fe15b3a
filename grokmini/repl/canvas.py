"""What the terminal shows, frame by frame: the painter with its memory. Pure but for that."""

from __future__ import annotations

from collections.abc import Sequence

from grokmini.render.lines import Line
from grokmini.repl.left_behind import LeftBehind
from grokmini.repl.painter import SYNC_OFF, SYNC_ON, Cursor, Drawn, LiveView, Size, paint, usable
from grokmini.repl.reflow import Reflow, after_resize
from grokmini.repl.row_change import typed_behind

IN_FLIGHT_SECONDS = 0.03
"""How long before the news of a resize a frame may have been sent and yet reach the terminal after it."""


class Canvas:
    """Turns finished lines and the wanted live rows into the bytes of one frame after the other.

    Times are in seconds on any one clock.
    """

    def __init__(self, *, colour_level: int, links: bool, reflow: Reflow) -> None:
        self._colour_level = colour_level
        self._links = links
        self._reflow = reflow
        self._before_edit: Drawn | None = None
        self._drawn_at = 0.0
        self._doubted: Drawn | None = None
        self._left_behind = LeftBehind()
        self.drawn = Drawn()

    def forget(self) -> None:
        """The live rows may no longer be what was drawn: the next frame draws all of them."""
        self.drawn = self.drawn._replace(known=False, above=())

    def restart(self) -> None:
        """The cursor stands on a fresh line; what was drawn before is none of our business any more."""
        self._before_edit = self._doubted = None
        self._left_behind.forget()
        self.drawn = Drawn()

    def resized(self, now: float) -> None:
        """The terminal has just told that it has another size.

        A frame that was sent a moment ago may have come after the change. If it edited rows in place, they may
        have grown in our memory only.
        """
        if self._doubted is None and now - self._drawn_at < IN_FLIGHT_SECONDS:
            self._doubted = self._before_edit

    def frame(
        self, lines: Sequence[Line], live: LiveView, size: Size, now: float, *, settled: bool = True
    ) -> bytes:
        """Print the lines above the live rows and make these look as wanted; no bytes if all is so already.

        Unless `settled`, the size may be changing right now, and as little as possible is erased.
        """
        size = usable(size)
        start = self._after_resize(size, self._reflow if settled else Reflow.NONE)
        self._follow(len(start.rows) - len(self.drawn.rows))
        above = () if lines else start.above
        lines, live = self._left_behind.shorten(lines), self._left_behind.trim(live)
        edits = start.known and not lines
        data, after = paint(start, lines, live, size, colour_level=self._colour_level, links=self._links)
        if data:
            self._before_edit = start if edits else None
            self._drawn_at = now
        self.drawn, self._doubted = after._replace(above=above), None
        return data

    def echo(self, live: LiveView, size: Size) -> bytes:
        """What was typed at the end of the cursor's row, and nothing else; no bytes if the rows differ otherwise.

        Written where the cursor is, so it cannot go wrong, whatever size the terminal has by now.
        """
        drawn = self.drawn
        if not drawn.known or live.cursor is None:
            return b""
        before, after = drawn.rows[drawn.cursor.row], live.rows[live.cursor.row]
        typed = typed_behind(before, drawn.cursor.column, after, live.cursor.column)
        if not typed or live.cursor.column >= min(drawn.size.columns, usable(size).columns):
            return b""
        row, column = drawn.cursor.row, live.cursor.column
        rows = (*drawn.rows[:row], after, *drawn.rows[row + 1 :])
        self.drawn = drawn._replace(rows=rows, cursor=Cursor(row, column))
        return f"{SYNC_ON}{typed}{SYNC_OFF}".encode()

    def _follow(self, more: int) -> None:
        """A resize brought so many rows back into reach; a negative number pushed out so many."""
        if more < 0:
            self._left_behind.add(self.drawn.rows[:-more])
        elif more > 0:
            self._left_behind.take_back(more)

    def _after_resize(self, size: Size, reflow: Reflow) -> Drawn:
        left = after_resize(self.drawn, size, reflow)
        if self._doubted is None or size.columns >= self.drawn.size.columns:  # nothing wraps then
            return left
        before = after_resize(self._doubted, size, reflow)
        moved = self.drawn.cursor.row - self._doubted.cursor.row  # by moves that count rows, whatever the width
        least = max(0, min(left.cursor.row, before.cursor.row + moved))
        return left._replace(cursor=left.cursor._replace(row=least))
