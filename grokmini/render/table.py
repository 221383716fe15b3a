"""Tables: columns fitted to the screen, or one record per row where they cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from grokmini.render.lines import EMPTY, Line, Span, join_spans
from grokmini.render.look import BOLD, DIM, Look
from grokmini.render.pieces import Align
from grokmini.render.spans import StyledText, wrap_styled
from grokmini.text.width import cell_width

WIDTH_ROWS = 200
"""Rows that decide the widths of the columns; later ones wrap to them."""

_GAP = 2
_NARROWEST = 6

Row: TypeAlias = Sequence[StyledText]


class Columns(NamedTuple):
    """How a table is drawn: the widths of its columns, or none of them for records."""

    header: tuple[StyledText, ...]
    aligns: tuple[Align, ...]
    natural: tuple[int, ...]
    widths: tuple[int, ...]
    width: int

    @property
    def as_records(self) -> bool:
        """Whether the columns do not fit side by side."""
        return not self.widths

    def fit(self, width: int) -> Columns:
        """The same table on a screen of another width."""
        return self._replace(widths=_fit(self.natural, width), width=width)


def plan_columns(header: Row, aligns: Sequence[Align], rows: Sequence[Row], width: int) -> Columns:
    """Decide the widths by the header and the first rows."""
    sample = [header, *rows[:WIDTH_ROWS]]
    natural = tuple(max(1, *(_widest_line(row[i]) for row in sample)) for i in range(len(header)))
    return Columns(tuple(header), tuple(aligns), natural, _fit(natural, width), width)


def _fit(natural: Sequence[int], width: int) -> tuple[int, ...]:
    """Widths of columns that fit side by side; none if they cannot."""
    room = width - _GAP * (len(natural) - 1)
    smallest = [min(full, _NARROWEST) for full in natural]
    if sum(natural) <= room:
        return tuple(natural)
    return tuple(_share(natural, smallest, room)) if sum(smallest) <= room else ()


def _widest_line(cell: StyledText) -> int:
    return max((sum(cell_width(span.text) for span in line) for line in cell), default=0)


def _share(natural: Sequence[int], smallest: Sequence[int], room: int) -> list[int]:
    """Give every column what it needs up to a common limit, as high as the room allows."""
    low, high = 0, max(natural)
    while low < high:
        limit = (low + high + 1) // 2
        if sum(max(least, min(full, limit)) for full, least in zip(natural, smallest, strict=True)) <= room:
            low = limit
        else:
            high = limit - 1
    widths = [max(least, min(full, low)) for full, least in zip(natural, smallest, strict=True)]
    for index, full in enumerate(natural):
        if widths[index] < full and sum(widths) < room:
            widths[index] += 1
    return widths


def table_head(columns: Columns, look: Look) -> list[Line]:
    """The header and the rule below it; nothing for records, which repeat the names."""
    if columns.as_records:
        return []
    names = [
        tuple(tuple(Span(span.text, BOLD.over(span.style)) for span in line) for line in cell)
        for cell in columns.header
    ]
    rule: list[Span] = []
    for cells in columns.widths:
        rule += [Span(look.glyphs.rule * cells, DIM), Span(" " * _GAP)]
    return [*_draw_row(columns, names), Line(join_spans(rule[:-1]))]


def table_rows(columns: Columns, rows: Sequence[Row], *, first: bool) -> list[Line]:
    """Rows below the head; `first` when the table's first row is among them."""
    lines: list[Line] = []
    for index, row in enumerate(rows):
        if columns.as_records:
            if index or not first:
                lines.append(EMPTY)
            lines.extend(_draw_record(columns, row))
        else:
            lines.extend(_draw_row(columns, row))
    return lines


def _draw_row(columns: Columns, row: Row) -> list[Line]:
    cells = [wrap_styled(cell, cells) for cell, cells in zip(row, columns.widths, strict=True)]
    lines: list[Line] = []
    for depth in range(max(map(len, cells))):
        spans: list[Span] = []
        for index, (cell, width) in enumerate(zip(cells, columns.widths, strict=True)):
            line = cell[depth] if depth < len(cell) else EMPTY
            before, after = _padding(width - line.width, columns.aligns[index])
            gap = _GAP if index + 1 < len(cells) else 0
            spans += [Span(" " * before), *line.spans, Span(" " * (after + gap))]
        lines.append(_trimmed(spans))
    return lines


def _padding(room: int, align: Align) -> tuple[int, int]:
    room = max(0, room)
    if align == "right":
        return room, 0
    if align == "center":
        return room // 2, room - room // 2
    return 0, room


def _trimmed(spans: list[Span]) -> Line:
    kept = [span for span in spans if span.text]
    while kept and not kept[-1].text.strip(" "):
        kept.pop()
    return Line(join_spans(kept))


def _draw_record(columns: Columns, row: Row) -> list[Line]:
    lines: list[Line] = []
    for name, cell in zip(columns.header, row, strict=True):
        label = " ".join("".join(span.text for span in line) for line in name).strip()
        first, *others = cell or ((),)
        styled = ((Span(f"{label}: " if label else "", BOLD), *first), *others)
        lines.extend(wrap_styled(styled, columns.width))
    return lines
