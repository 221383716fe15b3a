"""A terminal in memory: unlimited scrollback, reflow, and no mercy for what must never be sent.

It takes only the sequences that the live region may use. What would damage finished lines, or what some real
terminal answers in a harmful way, is an `AssertionError`.
"""

from __future__ import annotations

import codecs
import re
from enum import Enum
from typing import NamedTuple

from wcwidth import wcwidth

from grokmini.text.width import cell_width, graphemes

BLANK = " "
FILLER = "\x00"
"""A last cell left free because a wide character did not fit any more; not part of the text."""

_SEQUENCE = re.compile(
    r"\x1b\[(?P<private>\?)?(?P<count>[0-9;]*)(?P<final>[A-Za-z])|\x1b\](?P<osc>[^\x07\x1b]*)\x07"
)
_MODES = {"2026", "25", "2004"}


class Kind(Enum):
    """How a terminal behaves where terminals differ."""

    TMUX = "reflows; a lower height cuts the rows below the cursor first"
    VTE = "reflows; a lower height pushes rows out at the top"
    XTERM = "does not reflow; a greater height brings nothing back"

    @property
    def reflows(self) -> bool:
        """Whether rows that are too wide are wrapped on a resize."""
        return self is not Kind.XTERM


class Row:
    """One row of cells; the second cell of a wide character is empty. `wrapped`: it goes on in the next row.

    `finished` rows must not be touched any more.
    """

    __slots__ = ("cells", "finished", "wrapped")

    def __init__(self, cells: list[str], *, wrapped: bool = False, finished: bool = False) -> None:
        self.cells = cells
        self.wrapped = wrapped
        self.finished = finished

    @property
    def text(self) -> str:
        """What is to be read."""
        return "".join(self.cells).replace(FILLER, "").rstrip(" ")


class Place(NamedTuple):
    """A cell on the screen."""

    row: int
    column: int


class Emulator:
    """`feed` it bytes. `by_cluster` counts widths as grokmini does, else character by character as old ones do."""

    def __init__(self, columns: int, height: int, kind: Kind = Kind.TMUX, *, by_cluster: bool = True) -> None:
        self.columns = columns
        self.height = height
        self.kind = kind
        self.by_cluster = by_cluster
        self.rows = [self._blank() for _ in range(height)]
        self.row = 0
        self.column = 0
        self.pending_wrap = False
        self.styled = False
        self.modes = {"25"}
        self.moves_up: list[int] = []
        self._link = ""
        self._last: tuple[Row, int] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._held = ""

    def feed(self, data: bytes) -> None:
        """Take what was written to the terminal."""
        text = self._held + self._decoder.decode(data)
        self._held = ""
        at = 0
        while at < len(text):
            character = text[at]
            if character != "\x1b":
                self._plain(character)
                at += 1
                continue
            match = _SEQUENCE.match(text, at)
            if match is None:
                assert len(text) - at < 400 and "\x1b" not in text[at + 1 :], (
                    f"not allowed: {text[at : at + 20]!r}"
                )
                self._held = text[at:]
                return
            self._sequence(match)
            at = match.end()

    @property
    def top(self) -> int:
        """Index of the screen's first row among all rows."""
        return len(self.rows) - self.height

    @property
    def cursor(self) -> Place:
        """Where the cursor is, counted from the first row that ever was."""
        return Place(self.top + self.row, self.column)

    @property
    def screen(self) -> list[str]:
        """The rows on the screen as text."""
        return [row.text for row in self.rows[self.top :]]

    @property
    def lines(self) -> list[str]:
        """Scrollback and screen as text, wrapped rows put together, empty rows at the end left out."""
        lines: list[str] = []
        parts: list[str] = []
        for row in self.rows:
            parts.append("".join(row.cells).replace(FILLER, ""))
            if not row.wrapped:
                lines.append("".join(parts).rstrip(" "))
                parts = []
        lines.append("".join(parts).rstrip(" "))
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def finish_above(self, rows: int) -> None:
        """From now on, what stands more than that many rows above the cursor must not be touched."""
        for row in self.rows[: max(0, self.cursor.row - rows)]:
            row.finished = True

    def resize(self, columns: int, height: int) -> None:
        """Change the size, as this kind of terminal does it."""
        at, offset = self.cursor.row, self.column
        if self.kind is Kind.TMUX:
            at = self._tmux_height(at, height)
        if columns != self.columns and self.kind.reflows:
            self.columns = columns
            at, offset = self._reflow(at, offset)
        self.columns = columns
        if self.kind is Kind.TMUX:
            self.rows += [self._blank() for _ in range(self.height - len(self.rows))]
            at, offset = (at, offset) if at >= self.top else (self.top, 0)
            self.row = at - self.top
        else:
            self._change_height(at, height)
        self.column = min(offset, columns - 1)
        self.pending_wrap = False
        self._last = None

    def _tmux_height(self, at: int, height: int) -> int:
        """Rows below the cursor are cut first, empty or not; a greater height takes rows back from the scrollback."""
        if height < self.height:
            cut = min(self.height - height, len(self.rows) - 1 - at)
            del self.rows[len(self.rows) - cut :]
        self.rows += [self._blank() for _ in range(height - len(self.rows))]
        self.height = height
        return at

    # what is written

    def _plain(self, character: str) -> None:
        if character == "\r":
            self._moved(self.row, 0)
        elif character == "\n":
            if self.row == self.height - 1:
                self.rows.append(self._blank())
                self._moved(self.row, self.column)
            else:
                self._moved(self.row + 1, self.column)
        else:
            assert character.isprintable() or wcwidth(character) >= 0, f"control character {character!r}"
            self._draw(character)

    def _draw(self, character: str) -> None:
        if self._joins(character):
            return
        width = max(0, wcwidth(character)) if not self.by_cluster else cell_width(character)
        if width == 0:
            self._combine(character)
            return
        width = min(width, self.columns)
        if self.pending_wrap or self.column + width > self.columns:
            row = self._touch()
            row.wrapped = True
            if not self.pending_wrap:
                row.cells[self.column :] = [FILLER] * (self.columns - self.column)
            self._plain("\r")
            self._plain("\n")
        row = self._touch()
        self._put(row, self.column, character, width)
        self._last = (row, self.column)
        self._advance(width)

    def _joins(self, character: str) -> bool:
        """Whether the character became part of the cluster drawn just before."""
        if self._last is None or not self.by_cluster:
            return False
        row, at = self._last
        cluster = row.cells[at] + character
        if len(list(graphemes(cluster))) != 1:
            return False
        before, after = cell_width(row.cells[at]), cell_width(cluster)
        row.cells[at] = cluster
        if after > before and at + after <= self.columns and not self.pending_wrap:
            self._put(row, at, cluster, after)
            self._advance(after - before)
            self._last = (row, at)
        return True

    def _combine(self, character: str) -> None:
        row = self._touch()
        at = self.column if self.pending_wrap else self.column - 1
        while at > 0 and not row.cells[at]:
            at -= 1
        if at >= 0:
            row.cells[at] += character

    def _put(self, row: Row, at: int, text: str, width: int) -> None:
        for column in range(at, min(at + width, len(row.cells))):
            self._break_wide(row, column)
        row.cells[at : at + width] = [text, *[""] * (width - 1)]
        del row.cells[max(self.columns, at + width) :]

    @staticmethod
    def _break_wide(row: Row, column: int) -> None:
        """Half a wide character that is overwritten leaves a blank where the other half was."""
        if not row.cells[column]:
            row.cells[column - 1] = BLANK
            row.cells[column] = BLANK
        elif column + 1 < len(row.cells) and not row.cells[column + 1]:
            row.cells[column] = row.cells[column + 1] = BLANK

    def _advance(self, width: int) -> None:
        self.column += width
        self.pending_wrap = self.column >= self.columns
        self.column = min(self.column, self.columns - 1)

    # sequences

    def _sequence(self, match: re.Match[str]) -> None:
        if match["osc"] is not None:
            self._string(match["osc"])
            return
        final, given = match["final"], match["count"]
        if match["private"]:
            self._mode(given, final)
        elif final == "m":
            self.styled = given not in ("", "0")
        else:
            assert not given or int(given) > 0 or final == "J", f"not allowed: {match[0]!r}"
            self._move_or_erase(final, int(given or 1), match[0])

    def _move_or_erase(self, final: str, count: int, sequence: str) -> None:
        match final:
            case "A":
                self.moves_up.append(count)
                self._moved(max(0, self.row - count), self.column)
                assert not self._current.finished, "moved up into finished lines"
            case "B":
                self._moved(min(self.height - 1, self.row + count), self.column)
            case "C":
                self._moved(self.row, min(self.columns - 1, self.column + count))
            case "G":
                self._moved(self.row, min(self.columns, count) - 1)
            case "K" if sequence == "\x1b[K":
                assert not self.pending_wrap, (
                    "erasing here takes the row's last character away on some terminals"
                )
                self._erase(self._touch())
            case "J" if sequence in ("\x1b[J", "\x1b[0J"):
                assert (self.row, self.column) != (0, 0) or self.pending_wrap, (
                    "tmux keeps in its history what this erases"
                )
                self._erase(self._touch())
                for row in self.rows[self.top + self.row + 1 :]:
                    row.cells, row.wrapped = self._blank().cells, False
            case "L":
                self._touch()
                kept = self.rows[: self.top + self.row]
                below = self.rows[self.top + self.row :]
                blank = [self._blank() for _ in range(min(count, len(below)))]
                self.rows = [*kept, *blank, *below][: len(self.rows)]
                self._moved(self.row, 0)
            case "M":
                self._touch()
                assert self.row > 0, "a deleted first row goes to the scrollback on some terminals"
                at = self.top + self.row
                count = min(count, len(self.rows) - at)
                del self.rows[at : at + count]
                self.rows += [self._blank() for _ in range(count)]
                self._moved(self.row, 0)
            case _:
                raise AssertionError(f"not allowed: {sequence!r}")

    def _mode(self, given: str, final: str) -> None:
        assert given in _MODES and final in "hl", f"not allowed: ?{given}{final}"
        if given == "2026":
            assert (final == "h") != (given in self.modes), "synchronized updates do not nest"
        (self.modes.add if final == "h" else self.modes.discard)(given)

    def _string(self, osc: str) -> None:
        code, _, rest = osc.partition(";")
        assert code in ("0", "2", "8", "52"), f"not allowed: {osc!r}"
        if code == "8":
            self._link = rest.partition(";")[2]

    @property
    def at_rest(self) -> bool:
        """Whether nothing is open: no style, no link, no synchronized update, no half sequence."""
        return not (self.styled or self._link or self._held or "2026" in self.modes)

    # rows

    @property
    def _current(self) -> Row:
        return self.rows[self.top + self.row]

    def _touch(self) -> Row:
        row = self._current
        assert not row.finished, f"a finished line is touched: {row.text!r}"
        return row

    def _moved(self, row: int, column: int) -> None:
        self.row, self.column = row, column
        self.pending_wrap = False
        self._last = None

    def _erase(self, row: Row) -> None:
        if not row.cells[self.column] and self.column:
            row.cells[self.column - 1] = BLANK
        row.cells[self.column :] = [BLANK] * (self.columns - self.column)
        row.wrapped = False

    def _blank(self) -> Row:
        return Row([BLANK] * self.columns)

    def _reflow(self, at: int, offset: int) -> tuple[int, int]:
        """Wrap all lines anew; the cursor's row and column afterwards."""
        new: list[Row] = []
        new_at = new_offset = 0
        index = 0
        while index < len(self.rows):
            first = index
            while self.rows[index].wrapped and index + 1 < len(self.rows):
                index += 1
            index += 1
            group = self.rows[first:index]
            within = (
                sum(len(row.cells) for row in group[: at - first]) + offset if first <= at < index else None
            )
            pieces, place = self._wrap(group, within)
            if place is not None:
                new_at, new_offset = len(new) + place[0], place[1]
            new += pieces
        self.rows = new
        return new_at, new_offset

    def _wrap(self, group: list[Row], cursor: int | None) -> tuple[list[Row], tuple[int, int] | None]:
        cells = [cell for row in group for cell in row.cells if cell != FILLER]
        while cells and cells[-1] == BLANK:
            cells.pop()
        finished = all(row.finished for row in group)
        pieces: list[list[str]] = [[]]
        place: tuple[int, int] | None = None
        index = 0
        while index < len(cells):
            end = index + 1
            while end < len(cells) and not cells[end]:
                end += 1
            if pieces[-1] and len(pieces[-1]) + end - index > self.columns:
                pieces.append([])
            if cursor is not None and index <= cursor < end:
                place = (len(pieces) - 1, len(pieces[-1]) + cursor - index)
            pieces[-1] += cells[index:end]
            index = end
        if cursor is not None and place is None:
            place = (len(pieces) - 1, min(self.columns - 1, len(pieces[-1]) + cursor - len(cells)))
        rows = []
        for number, piece in enumerate(pieces):
            wrapped = number < len(pieces) - 1
            rest = [FILLER if wrapped else BLANK] * (self.columns - len(piece))
            rows.append(Row(piece[: self.columns] + rest, wrapped=wrapped, finished=finished))
        return rows, place

    def _change_height(self, at: int, height: int) -> None:
        """Give the screen its new height; `at` is the cursor's row among all rows."""
        bottom = len(self.rows) - 1
        grown = height > self.height
        while bottom > at and not self.rows[bottom].text and (not grown or bottom >= height):
            bottom -= 1
        rows = self.rows[: bottom + 1]
        top = max(0, bottom + 1 - height)
        if self.kind is Kind.XTERM and grown:
            top = max(top, self.top)
        if at < top:
            top = at
            rows = rows[: at + height]
        rows += [self._blank() for _ in range(top + height - len(rows))]
        self.rows, self.height, self.row = rows, height, at - top
        for row in rows:
            row.cells += [FILLER if row.wrapped else BLANK] * (self.columns - len(row.cells))
