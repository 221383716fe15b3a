"""Cutting streamed Markdown into pieces that later text cannot change.

The splitter takes whole lines, one at a time, and knows nothing of where the stream was cut: that is why any
cut of a text draws the same as the text at once. What it gives out is complete; what may still change stays
inside. A fence gives its lines one by one, a list item is complete when its next sibling begins, HTML of the
kinds 1 to 5 at its end mark only, all else at a blank line or where another block interrupts it.
"""

from __future__ import annotations

import copy

from grokmini.render import syntax
from grokmini.render.pieces import Block, Gap, Piece
from grokmini.render.regions import (
    FenceRegion,
    HtmlRegion,
    IndentedRegion,
    ItemRegion,
    NoteRegion,
    ParagraphRegion,
    QuoteRegion,
    Region,
)

_AS_IN_SOURCE = frozenset(
    {
        ("paragraph", "item"),
        ("heading", "paragraph"),
        ("heading", "item"),
        ("note", "note"),
        ("paragraph", "note"),
    }
)


class Splitter:
    """Takes lines, gives pieces."""

    def __init__(self) -> None:
        self._region: Region | None = None
        self._blank = False
        self._before = ""  # the kind of the last block
        self._numbers: dict[tuple[int, str], int] = {}  # the last number shown by indentation and kind
        self._list_kinds: list[tuple[int, str]] = []  # the lists that are open at top level, outermost first

    def copy(self) -> Splitter:
        """A splitter that goes on from here by itself; used to look ahead."""
        twin = copy.copy(self)
        twin._region = self._region.copy() if self._region else None
        twin._numbers = dict(self._numbers)
        twin._list_kinds = list(self._list_kinds)
        return twin

    @property
    def in_code(self) -> bool:
        """Whether the next line belongs to an open code fence."""
        return isinstance(self._region, FenceRegion)

    def feed(self, line: str) -> list[Piece]:
        """Take the next line (without its newline); the pieces that are complete by now."""
        region = self._region
        if region is None:
            return self._begin(line)
        if isinstance(region, ParagraphRegion) and (table := region.table_at(line)):
            pieces = region.close()
            return [*pieces, *self._enter(table, after_text=bool(pieces))]
        if region.take(line):
            return self._let_give(region)
        return [*self._leave(region), *self._begin(line)]

    def finish(self) -> list[Piece]:
        """The rest. The splitter is as good as new afterwards, except for what came before."""
        return self._leave(self._region) if self._region else []

    def _begin(self, line: str) -> list[Piece]:
        if not line.strip():
            self._blank = True
            return []
        if syntax.indent_of(line) >= syntax.TAB_STOP:
            return self._enter(IndentedRegion(line))
        line = syntax.expand_indent(line)
        if fence := syntax.fence_of(line):
            return self._enter(FenceRegion(fence))
        if syntax.is_heading(line):
            return self._single(line, "heading")
        if syntax.is_rule(line):
            return self._single(line, "rule")
        if mark := syntax.item_of(line):
            return self._enter_item(mark)
        if syntax.is_quote(line):
            return self._enter(QuoteRegion(line))
        if note := syntax.note_of(line):
            return self._enter(NoteRegion(*note))
        end_mark = syntax.html_end_of(line)
        return self._enter(ParagraphRegion(line) if end_mark is None else HtmlRegion(line, end_mark))

    def _single(self, line: str, kind: str) -> list[Piece]:
        return [*self._gap_before(kind), Block(line)]

    def _enter_item(self, mark: syntax.ItemMark) -> list[Piece]:
        if self._before != "item":
            self._numbers.clear()
            self._list_kinds.clear()
        indent = self._shown_indent(mark)
        shown = ""
        if mark.number is not None:
            key = indent, mark.kind
            number = max(mark.number, self._numbers.get(key, -1) + 1)
            self._numbers[key] = number
            shown = f"{number}{mark.kind}"
        return self._enter(ItemRegion(mark, shown, indent))

    def _shown_indent(self, mark: syntax.ItemMark) -> int:
        """An item of another kind that the source sets further in belongs, for the eye, to the one above."""
        kinds = self._list_kinds
        while kinds and (
            mark.indent < kinds[-1][0] or (mark.indent == kinds[-1][0] and mark.kind != kinds[-1][1])
        ):
            kinds.pop()
        if not kinds or mark.kind != kinds[-1][1]:
            kinds.append((mark.indent, mark.kind))
        return kinds[-1][0] if len(kinds) > 1 else 0

    def _enter(self, region: Region, *, after_text: bool = False) -> list[Piece]:
        if after_text:
            self._before = "paragraph"
        self._region = region
        return [*self._gap_before(region.kind), *self._let_give(region)]

    def _gap_before(self, kind: str) -> list[Piece]:
        before, blank = self._before, self._blank
        self._before, self._blank = kind, False
        if before == kind == "item":
            return []
        return [Gap()] if blank or (before, kind) not in _AS_IN_SOURCE else []

    def _let_give(self, region: Region) -> list[Piece]:
        pieces = region.give()
        return [*pieces, *self._leave(region)] if region.over else pieces

    def _leave(self, region: Region) -> list[Piece]:
        self._region = None
        self._blank = region.blank
        return region.close()
