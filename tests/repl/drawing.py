"""A canvas and an emulated terminal side by side: what the tests of drawing check after every frame."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grokmini.render.lines import EMPTY, Line, Span, Style, line_of, plain
from grokmini.repl.canvas import Canvas
from grokmini.repl.doubt import fit, is_certain
from grokmini.repl.painter import SYNC_OFF, SYNC_ON, Cursor, LiveView, Size, fresh_line
from grokmini.repl.reflow import Reflow, after_resize
from tests.fakes.emulator import Emulator, Kind

TEXTS = (
    "",
    "word",
    "some more words",
    "exactly as wide as twenty",
    "日本語のテキスト",
    "e\u0301te\u0301 nai\u0308ve",
    "\u26a0\ufe0f warn",
    "👩\u200d👩\u200d👧 family and more 👍🏽",
    "🇩🇪🇫🇷",
    "नमस्ते क्षि",
    "tail with a wide one at its end 漢",
)
"""What rows are made of; lengths around 20 cells."""


def line(label: str, text: str, styled: bool = False) -> Line:
    """A line that begins with a label of its own."""
    if not styled:
        return Line((Span(f"{label} {text}".rstrip(" ")),))
    bold, link = Style(bold=True, colour="red"), Style(link="https://example.org/")
    return Line(tuple(span for span in (Span(label, bold), Span(text, link)) if span.text))


def rows(*texts: str, cursor: Cursor | None = None) -> LiveView:
    """Live rows of plain text."""
    return LiveView(tuple(line_of(text) for text in texts), cursor)


class Drawing:
    """Draws frames on an emulator and checks each."""

    def __init__(
        self, size: Size, kind: Kind = Kind.TMUX, *, by_cluster: bool = True, colour_level: int = 16
    ) -> None:
        self.size = size
        self.terminal = Emulator(*size, kind, by_cluster=by_cluster)
        self._reflow = Reflow.AND_BACK if kind.reflows else Reflow.NONE
        self.canvas = Canvas(colour_level=colour_level, links=True, reflow=self._reflow)
        self.committed: list[Line] = []
        self.live = LiveView()
        self.now = 0.0
        self.sent = 0
        self.exact = True
        self.terminal.feed(fresh_line(size.columns))

    def frame(self, lines: Sequence[Line] = (), live: LiveView | None = None, *, after: float = 0.1) -> bytes:
        """Draw, check what must never happen, and give the bytes."""
        self.now += after
        self.live = live if live is not None else self.live
        self.committed += lines
        left = after_resize(self.canvas.drawn, self.size, self._reflow)
        reach = max(len(self.canvas.drawn.rows) - 1, left.cursor.row)
        self.terminal.moves_up.clear()
        data = self.canvas.frame(lines, self.live, self.size, self.now)
        self.terminal.feed(data)
        self.sent += len(data)
        assert self.terminal.at_rest
        if data:
            assert data.startswith(SYNC_ON.encode()) and data.endswith(SYNC_OFF.encode())
            assert data.count(SYNC_ON.encode()) == data.count(SYNC_OFF.encode()) == 1
        reach = max(reach, len(self.canvas.drawn.rows) - 1)
        assert max(self.terminal.moves_up, default=0) <= reach
        again = self.canvas.frame((), self.live, self.size, self.now)
        assert again == b""
        return data

    def resize(self, size: Size) -> None:
        """The terminal gets another size, and the canvas hears of it in time."""
        drawn = self.canvas.drawn
        columns = size.columns if self.terminal.kind.reflows else self.size.columns
        heights = [max(1, -(-row.width // columns)) for row in drawn.rows]
        wide = any(row.width != len(plain(row)) for row in drawn.rows)
        below = 0
        if self.terminal.kind is Kind.TMUX:  # gives up no empty rows below, but pushes out at the top
            most = max(self.terminal.height, size.rows)
            below = most - (self.terminal.row - drawn.cursor.row) - len(drawn.rows)
        if sum(heights) * (1 + wide) + below > size.rows or not all(
            is_certain(plain(row)) for row in drawn.rows
        ):
            self.exact = False
        self.terminal.resize(*size)
        self.size = size

    @property
    def rows(self) -> list[str]:
        """The live rows as they should be seen."""
        limit = max(1, self.size.rows - 1)
        rows = self.live.rows or (EMPTY,)
        start = max(0, len(rows) - limit)
        if self.live.cursor is not None:
            start = min(start, self.live.cursor.row)
        return [plain(fit(row, self.size.columns)).rstrip(" ") for row in rows[start : start + limit]]

    def assert_each_line_once(self) -> None:
        """Every finished line once and in order, the live rows once at the bottom, the cursor in its place."""
        rows = "\n".join(self.rows).rstrip("\n")
        committed = [plain(line).rstrip(" ") for line in self.committed]
        seen = "\n".join(self.terminal.lines)
        if self.exact:
            assert seen == "\n".join([*committed, rows]).rstrip("\n")
        else:
            assert seen.endswith(rows)
            labelled = re.compile(r"c\d+(?!\d)")
            starts = [match.start() for match in labelled.finditer(seen)]
            assert len(starts) == len(committed)
            assert all(seen.startswith(text, start) for text, start in zip(committed, starts, strict=True))
        self._check_cursor()

    def _check_cursor(self) -> None:
        drawn, terminal = self.canvas.drawn, self.terminal
        top = terminal.cursor.row - drawn.cursor.row
        assert [row.text for row in terminal.rows[top : top + len(drawn.rows)]] == [
            plain(row).rstrip(" ") for row in drawn.rows
        ]
        if is_certain(plain(drawn.rows[drawn.cursor.row])):
            assert (terminal.column, terminal.pending_wrap) == (drawn.cursor.column, False)
        self.finish()

    def finish(self) -> None:
        """What stands above the live rows, also those out of reach, must not be touched from now on."""
        drawn, columns = self.canvas.drawn, self.size.columns
        out_of_reach = sum(max(1, -(-2 * row.width // columns)) for row in drawn.above)
        self.terminal.finish_above(drawn.cursor.row + out_of_reach)
