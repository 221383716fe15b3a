"""A draft as rows of styled lines that fit the terminal, and the cell of the cursor.

Needs nothing of the editor, so that the first prompt can be shown before it is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from grokmini.render.lines import EMPTY, PLAIN, Line, Span, Style, join_spans
from grokmini.render.look import DIM, PROMPT, Look
from grokmini.repl.draft_layout import Layout
from grokmini.repl.painter import Cursor
from grokmini.repl.paste_chips import MARKS
from grokmini.text.width import cell_width, cut_to_width

CHIP = Style(dim=True, underline=True)
SELECTED = Style(underline=True)


class Columns(NamedTuple):
    """How a width is divided: cells of the prompt (or the indent below it), and cells for text."""

    indent: int
    room: int


class Draft(NamedTuple):
    """What is to be shown: the wrapped text, the cursor's place in it, and a grey word behind the end."""

    layout: Layout
    cursor: int
    selected: range = range(0)
    ghost: str = ""


class DraftView(NamedTuple):
    """Rows that fit the width, and the cursor among them."""

    rows: tuple[Line, ...]
    cursor: Cursor


def columns(look: Look, width: int) -> Columns:
    """Divide a width of any size: the prompt goes first when there is little, then the cell kept free."""
    indent = cell_width(look.glyphs.prompt) + 1
    if width < indent + 4:
        indent = 0
    return Columns(indent, max(1, width - indent - (width >= 4)))


def empty_view(look: Look, width: int) -> DraftView:
    """A prompt without a draft."""
    indent = columns(look, width).indent
    return DraftView((Line(_lead(look, indent, "prompt")),), Cursor(0, indent))


def draft_view(draft: Draft, look: Look, width: int, top: int, height: int) -> DraftView:
    """The rows `top` to `top + height` of the draft. Marks tell that there is more above or below."""
    indent = columns(look, width).indent
    layout = draft.layout
    shown = range(top, min(len(layout), top + height))
    rows: list[Line] = []
    for number in shown:
        lead = "prompt" if number == 0 else "above" if number == top else ""
        if number == shown[-1] and number + 1 < len(layout):
            lead = "below"
        rows.append(Line(join_spans((*_lead(look, indent, lead), *_row(draft, number)))))
    if draft.ghost and shown[-1] + 1 == len(layout):
        rows[-1] = _with_ghost(rows[-1], draft.ghost, width)
    place = layout.place_of(draft.cursor)
    return DraftView(tuple(rows), Cursor(place.row - top, min(indent + place.column, max(0, width - 1))))


def scrolled(top: int, cursor_row: int, rows: int, height: int) -> int:
    """The first row to show so that the cursor is among `height` rows, moving as little as possible."""
    top = min(max(top, cursor_row - height + 1), cursor_row)
    return max(0, min(top, rows - height))


def _lead(look: Look, indent: int, kind: str) -> tuple[Span, ...]:
    if not indent:
        return ()
    if kind == "prompt":
        return (Span(look.glyphs.prompt, PROMPT), Span(" "))
    arrows = {"above": "↑", "below": "↓"} if look.unicode else {"above": "^", "below": "v"}
    return (Span(arrows[kind], DIM), Span(" " * (indent - 1))) if kind else (Span(" " * indent),)


def _row(draft: Draft, number: int) -> list[Span]:
    layout = draft.layout
    row = layout.row(number)
    text = layout.text[row.start : row.end]
    if text.isascii() and text.isprintable() and not draft.selected:
        return [Span(text)]
    return [
        Span(unit.shown, _style(layout.text[unit.start], unit.start in draft.selected))
        for unit in layout.units(row)
    ]


def _style(character: str, selected: bool) -> Style:
    style = CHIP if MARKS.fullmatch(character) else PLAIN
    return SELECTED.over(style) if selected else style


def _with_ghost(row: Line, ghost: str, width: int) -> Line:
    room = width - 1 - row.width
    return Line((*row.spans, Span(cut_to_width(ghost, room), DIM))) if room > 1 else row


def fitted(spans: Iterable[Span], width: int) -> Line:
    """A line cut to the width."""
    kept: list[Span] = []
    for span in spans:
        cells = cell_width(span.text)
        if cells > width:
            kept.append(Span(cut_to_width(span.text, width), span.style))
            break
        kept.append(span)
        width -= cells
    return Line(join_spans(kept)) if kept else EMPTY
