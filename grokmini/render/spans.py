"""Wrapping styled text, and putting a mark before a block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from grokmini.render.lines import EMPTY, Line, Span, Style, indented, join_spans
from grokmini.text.width import cell_width, cut_to_width
from grokmini.text.wrap import wrap_ranges

MIN_INNER_WIDTH = 4
"""Cells that must be left beside a mark; with fewer, the mark gets a line of its own."""

StyledText: TypeAlias = tuple[tuple[Span, ...], ...]
"""Text with styles: the lines between hard breaks, each of spans."""


def wrap_styled(text: StyledText, width: int) -> list[Line]:
    """Styled text as lines of at most `width` cells."""
    return [line for spans in text for line in wrap_spans(spans, width)]


def wrap_spans(spans: Sequence[Span], width: int) -> list[Line]:
    """The spans as lines of at most `width` cells, broken as `wrap_text` breaks them."""
    joined = join_spans(spans)
    text = "".join(span.text for span in joined)
    if not joined:
        return [EMPTY]
    if len(joined) == 1:
        style = joined[0].style
        return [Line((Span(text[a:b], style),)) if b > a else EMPTY for a, b in wrap_ranges(text, width)]
    lines: list[Line] = []
    index, offset = 0, 0  # the first span that can reach into the line, and where it starts in the text
    for start, end in wrap_ranges(text, width):
        pieces: list[Span] = []
        while index < len(joined) and offset + len(joined[index].text) <= start:
            offset += len(joined[index].text)
            index += 1
        at, place = index, offset
        while at < len(joined) and place < end:
            span = joined[at]
            part = span.text[max(0, start - place) : end - place]
            if part:
                pieces.append(Span(part, span.style))
            place += len(span.text)
            at += 1
        lines.append(Line(tuple(pieces)))
    return lines


def fact_lines(facts: Iterable[str], dot: str, style: Style, width: int) -> list[Line]:
    """Short facts with a dot between them, in as many lines as they need; no line breaks within one that fits."""
    rows: list[str] = []
    for fact in filter(None, facts):
        longer = f"{rows[-1]}{dot}{fact}" if rows else ""
        if longer and cell_width(longer) <= width:
            rows[-1] = longer
        else:
            rows.append(fact)
    return [line for row in rows for line in wrap_spans((Span(row, style),), width)]


def hanging(
    render: Callable[[int], list[Line]], first: Span, width: int, rest: Span | None = None
) -> list[Line]:
    """What `render` gives for the width that is left, with `first` before it and `rest` (blank) below that.

    Where too little would be left, the mark stands on a line of its own and the block takes the whole width.
    """
    cells = cell_width(first.text)
    if width - cells < MIN_INNER_WIDTH:
        mark = Span(cut_to_width(first.text.strip(" "), width, ""), first.style)
        return [*([Line((mark,))] if mark.text else []), *render(width)]
    lines = render(width - cells) or [EMPTY]
    return indented(lines, first, rest or Span(" " * cells))
