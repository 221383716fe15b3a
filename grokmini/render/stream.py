"""Markdown as it streams in: a frozen prefix given out once, and a live tail.

The lines given out are the same for every way of cutting the text, because only whole lines of source decide
them (see `splitter`). The tail is what they would be continued with if the text ended here.
"""

from __future__ import annotations

import re

from grokmini.render.code import Highlighter, Languages
from grokmini.render.lines import EMPTY, PLAIN, Line, Span, Style
from grokmini.render.look import DIM, Look
from grokmini.render.markdown import MarkdownRenderer, language_of, wrap_lines
from grokmini.render.pieces import (
    Block,
    CodeLine,
    CodeOpen,
    Gap,
    Html,
    Item,
    Note,
    Piece,
    Table,
    TableRow,
)
from grokmini.render.spans import hanging
from grokmini.render.splitter import Splitter
from grokmini.render.table import Columns, plan_columns, table_head, table_rows
from grokmini.text.sanitise import sanitise

BIG_TAIL = 16_000
"""Characters of tail from which it is drawn again only after growing by `TAIL_GROWTH`."""

TAIL_GROWTH = 0.05

_LINE_RANGE = re.compile(r"(\d{1,9}):(\d{1,9}):(\S+)")
_UNDECIDED_LINE = re.compile(r"\s*(?:[-*+=_#>]+|\d{1,9}[.)]?|[`~]{1,2}|[`~]{3,}[^`]*)\s*")
_UNDECIDED_FENCE_END = re.compile(r"\s*[`~]+\s*")
_UNDECIDED_END = re.compile(
    r"(?:!?\[[^\[\]]{0,400}(?:\](?:\([^()\s]{0,400})?)?"  # half a link
    r"|\\(?:[(\[][^\\]{0,400})?"  # half an escape, half a formula
    r"|[*_~`]+|&[#\w]{0,12}|<[\w/!?][^<>]{0,200})$"
)


class MarkdownStream:
    """Draws one text. `feed` and `finish` give lines that are final; joined they are the whole text's lines.

    Text from outside is sanitised here, character by character; CR and CRLF count as newlines.
    """

    def __init__(
        self,
        width: int,
        look: Look | None = None,
        languages: Languages | None = None,
        base: Style = PLAIN,
    ) -> None:
        renderer = MarkdownRenderer(width, look or Look(), languages or Languages(), base)
        self._splitter = Splitter()
        self._writer = _PieceWriter(renderer)
        self._partial: list[str] = []
        self._carriage = False
        self._fed = 0
        self._live_since = 0
        self._tail: list[Line] | None = []
        self._tail_at = 0

    def resize(self, width: int) -> None:
        """Draw at another width from here on; what was given out stays as it is."""
        self._writer.resize(max(1, width))
        self._tail = None

    def feed(self, text: str) -> list[Line]:
        """Take more of the text; the lines that are final by now and were not given before."""
        if not text:
            return []
        text = self._one_newline(text)
        self._fed += len(text)
        first, *others = sanitise(text).split("\n")
        self._partial.append(first)
        lines: list[Line] = []
        for following in others:
            line, self._partial = "".join(self._partial), [following]
            lines.extend(self._write(self._splitter.feed(line)))
        if lines:
            self._live_since = self._fed
            self._tail = None
        return lines

    def finish(self) -> list[Line]:
        """The text has ended: the lines that were still open."""
        partial, self._partial = "".join(self._partial), []
        self._carriage = False
        lines = self._write(self._splitter.feed(partial)) if partial else []
        self._tail = []
        self._tail_at = self._live_since = self._fed
        return [*lines, *self._write(self._splitter.finish())]

    def tail(self) -> list[Line]:
        """The lines that are not final: what `finish` would give, without a last half mark that is undecided.

        A big tail may be a little out of date (see `BIG_TAIL`).
        """
        live = self._fed - self._live_since
        stale = self._fed - self._tail_at
        if self._tail is None or stale > (TAIL_GROWTH * live if live > BIG_TAIL else 0):
            self._tail, self._tail_at = self._draw_tail(), self._fed
        return self._tail

    def _draw_tail(self) -> list[Line]:
        splitter, writer = self._splitter.copy(), self._writer.copy()
        partial = _decided("".join(self._partial), in_code=splitter.in_code)
        pieces = splitter.feed(partial) if partial else []
        return [line for piece in [*pieces, *splitter.finish()] for line in writer.write(piece)]

    def _write(self, pieces: list[Piece]) -> list[Line]:
        return [line for piece in pieces for line in self._writer.write(piece)]

    def _one_newline(self, text: str) -> str:
        """Every line end as `\\n`, also where CR and LF come in different pieces."""
        if self._carriage and text.startswith("\n"):
            text = text[1:]
        if not text:
            self._carriage = False
            return text
        self._carriage = text.endswith("\r")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decided(partial: str, *, in_code: bool) -> str:
    """An unfinished line without what may yet turn out to be a mark."""
    if in_code:
        return "" if _UNDECIDED_FENCE_END.fullmatch(partial) else partial
    if _UNDECIDED_LINE.fullmatch(partial):
        return ""
    match = _UNDECIDED_END.search(partial, max(0, len(partial) - 900))
    return partial[: match.start()] if match else partial


class _PieceWriter:
    """Draws pieces in order, carrying the highlighter, the table's columns and an owed blank line along."""

    def __init__(self, renderer: MarkdownRenderer) -> None:
        self.renderer = renderer
        self._begun = False
        self._gap = False
        self._highlighter: Highlighter = renderer.languages.highlighter("")
        self._columns: Columns | None = None
        self._number: int | None = None
        self._number_width = 0

    def copy(self) -> _PieceWriter:
        """A writer that goes on by itself."""
        twin = _PieceWriter(self.renderer.copy())
        twin._begun, twin._gap = self._begun, self._gap
        twin._highlighter = self._highlighter.copy()
        twin._columns = self._columns
        twin._number, twin._number_width = self._number, self._number_width
        return twin

    def resize(self, width: int) -> None:
        """Draw at another width from here on."""
        self.renderer.width = width
        self._columns = self._columns.fit(width) if self._columns else None

    def write(self, piece: Piece) -> list[Line]:
        """The lines of the next piece, after the blank line that is owed."""
        if isinstance(piece, Gap):
            self._gap = True
            return []
        lines = self._draw(piece)
        if lines:
            if self._gap and self._begun:
                lines.insert(0, EMPTY)
            self._gap, self._begun = False, True
        return lines

    def _draw(self, piece: Piece) -> list[Line]:
        renderer = self.renderer
        match piece:
            case Block(source):
                return renderer.blocks(source)
            case Item(source, mark, indent):
                lead = " " * indent + (mark or renderer.look.glyphs.bullet) + " "
                return renderer.item(source, lead, renderer.width)
            case Html(source):
                return wrap_lines(source, renderer.width, renderer.base)
            case Note(label, source):
                mark_span = Span(f"[^{label}] ", DIM.over(renderer.base))
                rest = Span("  ")
                return hanging(lambda inner: renderer.blocks(source, inner), mark_span, renderer.width, rest)
            case CodeOpen(info):
                return self._open_code(info)
            case CodeLine(text):
                return [self._draw_code_line(text)]
            case Table(header, aligns, rows):
                styled = [[renderer.text(cell) for cell in row] for row in rows]
                names = [renderer.text(cell) for cell in header]
                self._columns = plan_columns(names, aligns, styled, renderer.width)
                return [
                    *table_head(self._columns, renderer.look),
                    *table_rows(self._columns, styled, first=True),
                ]
            case TableRow(cells):
                assert self._columns is not None
                return table_rows(self._columns, [[renderer.text(cell) for cell in cells]], first=False)
            case Gap():
                return []

    def _open_code(self, info: str) -> list[Line]:
        """Set up for the code's lines; a fence that names a range of a file's lines gets a line that says so."""
        self._number = None
        match = _LINE_RANGE.match(info)
        if match is None:
            self._highlighter = self.renderer.languages.highlighter(language_of(info))
            return []
        start, end, path = match.groups()
        name, dot, ending = path.rpartition(".")
        self._highlighter = self.renderer.languages.highlighter(dot + ending if name else path)
        self._number, self._number_width = int(start), max(len(start), len(end))
        return wrap_lines(f"{path}:{start}-{end}", self.renderer.width, DIM.over(self.renderer.base))

    def _draw_code_line(self, text: str) -> Line:
        line = self.renderer.code_line(self._highlighter.line(text))
        if self._number is None:
            return line
        number = Span(f"{self._number:>{self._number_width}}  ", DIM.over(self.renderer.base))
        self._number += 1
        return Line((number, *line.spans))
