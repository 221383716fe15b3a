"""What has to be written so that the terminal shows what it should: pure, one byte string a frame.

The terminal holds finished lines, which are never touched again, and under them the live rows, which are
redrawn in place. All moves are relative and stay within the live rows. Two ways lead to the next frame:

- Editing in place, where nothing has to be printed for good: only the changed tail of a changed row is written,
  rows in between are inserted and deleted.
- Printing, from the first live row on: everything is erased, the finished lines and all live rows are written. A
  finished line may be wider than the screen, the terminal wraps it.

The terminal may have another width than we know of, for as long as the news of a resize is under way. Then rows
take more room than we think, every move up ends below where it was meant to, and so within the live rows. What
was edited meanwhile may stand in a wrong place. That is why a finished line is always printed, in full and with
all that follows, also where the same text stands already as a live row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from grokmini.render.lines import EMPTY, Line, ansi, plain
from grokmini.repl.doubt import fit, is_certain, shows_spaces
from grokmini.repl.row_change import (
    WORTH_SHIFTING,
    Scrolled,
    changed_middle,
    changed_tail,
    count_same,
    cut,
    is_alike,
    scrolled,
)
from grokmini.text.width import cell_width

SYNC_ON, SYNC_OFF = "\x1b[?2026h", "\x1b[?2026l"
_GAP = re.compile(" {6,}")
"""Spaces that cost more than a move over them."""


class Size(NamedTuple):
    """The terminal's size in cells."""

    columns: int
    rows: int


USUAL_SIZE = Size(80, 24)


class Cursor(NamedTuple):
    """A place within the live rows, in cells from their top left."""

    row: int
    column: int


class LiveView(NamedTuple):
    """What should stand below the finished lines: rows of one terminal row each, and the cursor's place.

    Rows that are too wide or too many are cut. Without a cursor it rests behind the last row.
    """

    rows: tuple[Line, ...] = ()
    cursor: Cursor | None = None


class Drawn(NamedTuple):
    """What stands on the terminal: the live rows (at least one), the cursor among them, drawn at which size.

    Where `known` is False, nothing is sure but that the live rows begin `cursor.row` rows above the cursor. `above`
    are former live rows right above these, out of reach until a greater height brings them back.
    """

    rows: tuple[Line, ...] = (EMPTY,)
    cursor: Cursor = Cursor(0, 0)
    size: Size = USUAL_SIZE
    known: bool = False
    above: tuple[Line, ...] = ()


def usable(size: Size) -> Size:
    """The size, with what a terminal reports that knows none (0x0) counted as 80x24."""
    columns = size.columns if size.columns > 0 else USUAL_SIZE.columns
    return Size(columns, size.rows if size.rows > 0 else USUAL_SIZE.rows)


def fresh_line(columns: int) -> bytes:
    """Go to the first column: of this row if the cursor is there already, else of the next.

    As many spaces as the row has cells wrap exactly when something stood before them.
    """
    return b" " * columns + b"\r"


def paint(
    drawn: Drawn,
    commits: Sequence[Line],
    live: LiveView,
    size: Size,
    *,
    colour_level: int,
    links: bool,
) -> tuple[bytes, Drawn]:
    """The bytes that print the finished lines above the live rows and make these look as wanted.

    No bytes when nothing has to change, else one synchronized update.
    """
    size = usable(size)
    rows, cursor = _fitted(live, size)
    after = Drawn(rows, cursor, size, known=True)
    if drawn.size != size:
        drawn = drawn._replace(known=False)
    frame = _Frame(drawn, (*commits, *rows), len(commits), after, colour_level, links)
    if commits or not drawn.known:
        frame.print()
    else:
        frame.edit(count_same(drawn.rows, rows))
    body = frame.finish()
    return (f"{SYNC_ON}{body}{SYNC_OFF}" if body else "").encode(), after


def _fitted(live: LiveView, size: Size) -> tuple[tuple[Line, ...], Cursor]:
    """Rows and cursor, cut to what can stand on the screen: the last rows, or those from the cursor's on."""
    rows = live.rows or (EMPTY,)
    limit = max(1, size.rows - 1)
    start = max(0, len(rows) - limit)
    wanted = live.cursor
    if wanted is not None:
        start = min(start, max(0, wanted.row))
    rows = tuple(fit(row, size.columns) for row in rows[start : start + limit])
    if wanted is None:
        wanted = Cursor(start + len(rows) - 1, rows[-1].width)
    row = min(max(0, wanted.row - start), len(rows) - 1)
    return rows, Cursor(row, min(max(0, wanted.column), size.columns - 1))


class _Pen:
    """Where the terminal's cursor is, and what was sent to get it there. Rows count from the old live rows' top.

    `bottom` is the last row that exists; beyond it, going down makes new ones. The column is None while unsure.
    """

    def __init__(self, row: int, column: int | None, bottom: int, columns: int) -> None:
        self.out: list[str] = []
        self.row = row
        self.column = column
        self.bottom = bottom
        self._columns = columns

    def go(self, row: int, column: int = 0) -> None:
        down = min(row, self.bottom) - self.row
        if down < 0:
            self.out.append(_csi(-down, "A"))
        elif down == 1:
            self._down(1)
        elif down:
            self.out.append(_csi(down, "B"))
        if row > self.bottom:
            self._down(row - self.bottom)
            self.bottom = row
        self.row = row
        if column != self.column:
            self.out.append(_csi(column + 1, "G") if column else "\r")
            self.column = column

    def write(self, text: str, cells: int, *, certain: bool) -> None:
        self.out.append(text)
        end = None if self.column is None else self.column + cells
        self.column = end if certain and end is not None and end < self._columns else None

    def _down(self, rows: int) -> None:
        self.out.append("\r\n" * rows)
        self.column = 0


def _csi(count: int, final: str) -> str:
    return f"\x1b[{count if count > 1 else ''}{final}"


class _Frame:
    """One frame on its way from the rows that stand to the target: finished lines, then live rows."""

    def __init__(
        self, drawn: Drawn, target: tuple[Line, ...], commits: int, after: Drawn, colour_level: int, links: bool
    ) -> None:
        self.target = target
        self._drawn = drawn
        self._after = after
        self._commits = commits
        self._colour_level = colour_level
        self._links = links
        old = drawn.rows if drawn.known else ()
        row, column = drawn.cursor
        sure = drawn.known and is_certain(plain(old[row]))
        self._pen = _Pen(row, column if sure else None, max(row, len(old) - 1), after.size.columns)

    def print(self) -> None:
        """Erase all live rows and write the target."""
        pen = self._pen
        pen.go(0)
        # tmux takes an erasure from the screen's very first cell for a wish to keep all in its history
        pen.out.append(" \x1b[J\r" if plain(self.target[0]) else " \x1b[J\r\x1b[K")
        finished, live = self.target[: self._commits], self.target[self._commits :]
        pen.out.append("\r\n".join((*map(self._ansi, finished), *map(self._over_blank, live))))
        pen.row = pen.bottom = len(self.target) - 1
        pen.column = None

    def edit(self, same: int) -> None:
        """Change what differs below the first `same` rows, each row where it stands."""
        old, new, pen = self._drawn.rows, self.target, self._pen
        moved_up = scrolled(old, new, same) if len(old) == len(new) else None
        if moved_up is not None:
            self._scroll(moved_up, same)
            return
        more = len(new) - len(old)
        kept = self._rows_to_shift(same)
        if kept and more > 0:
            pen.go(len(old) - 1 + more)
        for index in range(same, len(new) - kept):
            if kept and more > 0 and index == len(old) - kept:
                pen.go(index)
                pen.out.append(_csi(more, "L"))
            before = old[index] if index < len(old) - kept else EMPTY
            self._rewrite(index, before, new[index])
        if more < 0:
            pen.go(len(new) - kept)
            pen.out.append(_csi(-more, "M") if kept else "\x1b[J")
            pen.bottom = len(new) - 1 if kept else len(new)
        for index in range(len(new) - kept, len(new)):
            self._rewrite(index, old[index - more], new[index])

    def _scroll(self, moved_up: Scrolled, same: int) -> None:
        """Move rows up among the others, and write what is new below them."""
        old, new, pen = self._drawn.rows, self.target, self._pen
        start, end, by = moved_up
        for index in range(same, start):
            self._rewrite(index, old[index], new[index])
        pen.go(start)
        pen.out.append(_csi(by, "M"))
        pen.go(end)
        pen.out.append(_csi(by, "L"))
        before = (*old[start + by : end + by], *[EMPTY] * by, *old[end + by :])
        for index, row in enumerate(before, start):
            self._rewrite(index, row, new[index])

    def _rows_to_shift(self, same: int) -> int:
        """How many last rows move up or down, as they are or nearly so; 0 when that would not pay."""
        old, new = self._drawn.rows, self.target
        if len(old) == len(new):
            return 0
        room = min(len(old), len(new)) - same
        pairs = zip(old[::-1], new[::-1], strict=False)
        kept = min(room, sum(1 for _ in takewhile(lambda pair: is_alike(*pair), pairs)))
        if len(new) < len(old) and len(new) - kept == 0:
            return 0  # deleting the screen's first row could send it to the scrollback
        moved = zip(old[len(old) - kept :], new[len(new) - kept :], strict=True)
        saved = sum(len(self._ansi(row)) if was == row else changed_tail(was, row)[0] for was, row in moved)
        return kept if saved > WORTH_SHIFTING else 0

    def _rewrite(self, index: int, before: Line, after: Line) -> None:
        if before == after:
            if index > self._pen.bottom:
                self._pen.go(index)
            return
        cells, rest = changed_tail(before, after)
        middle = changed_middle(before, after)
        if middle is not None:
            if middle.spans:
                self._pen.go(index, cells)
                self._pen.write(self._ansi(middle), middle.width, certain=True)
            return
        self._pen.go(index, cells)
        old_cells = before.width
        text = plain(rest)
        certain = is_certain(text)
        if old_cells > cells and (
            after.width < old_cells or not certain or not is_certain(plain(before)) or not text.isascii()
        ):
            self._pen.out.append("\x1b[K")
        self._pen.write(self._ansi(rest), cell_width(text), certain=certain)

    def finish(self) -> str:
        """Put the cursor where it belongs; all that is to be sent."""
        pen, cursor = self._pen, self._after.cursor
        row = self._commits + cursor.row
        if not pen.out and self._drawn.known and self._drawn.cursor == (row, cursor.column):
            return ""
        before = cut(self._after.rows[cursor.row], cursor.column)
        text = plain(before)
        if is_certain(text):
            pen.go(row, cursor.column)
        else:
            pen.go(row, 0)
            gap = cursor.column - before.width
            pen.out.append(self._ansi(before) + (_csi(gap, "C") if gap > 0 else ""))
        return "".join(pen.out)

    def _ansi(self, line: Line) -> str:
        return ansi(line, self._colour_level, links=self._links)

    def _over_blank(self, line: Line) -> str:
        """The row as it is written where nothing stands: wide gaps in it are stepped over."""
        return "".join(
            text if shows_spaces(span.style) else _GAP.sub(lambda gap: _csi(len(gap[0]), "C"), text)
            for span in line.spans
            for text in [self._ansi(Line((span,)))]
        )
