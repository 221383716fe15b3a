"""The block that is being read: one small class for each kind of Markdown block.

A region takes lines as long as they belong to it, gives out what is complete inside it, and closes.
"""

from __future__ import annotations

import copy
from typing import ClassVar

from grokmini.render import syntax
from grokmini.render.pieces import Align, Block, CodeLine, CodeOpen, Html, Item, Note, Piece, Table, TableRow
from grokmini.render.table import WIDTH_ROWS


class Region:
    """Base of all regions. `over` says that nothing more belongs to it, `blank` that a blank line ends it."""

    kind: ClassVar[str]

    def __init__(self, *lines: str) -> None:
        self.lines: list[str] = list(lines)
        self.over = False
        self.blank = False

    def copy(self) -> Region:
        """The same region, going on by itself."""
        twin = copy.copy(self)
        twin.lines = list(self.lines)
        return twin

    def take(self, line: str) -> bool:
        """Take the line in; False when it does not belong here, and the region is to be closed."""
        raise NotImplementedError

    def give(self) -> list[Piece]:
        """What is complete and was not given before."""
        return []

    def close(self) -> list[Piece]:
        """What is left, now that the region is over."""
        return []


class ParagraphRegion(Region):
    """Text up to a blank line, a setext underline, or a block that interrupts it."""

    kind = "paragraph"

    def take(self, line: str) -> bool:
        """See `Region.take`."""
        if line.strip() and syntax.is_setext(line):
            self.over = True
        elif syntax.interrupts(line):
            return False
        self.lines.append(line)
        return True

    def table_at(self, line: str) -> TableRegion | None:
        """The table that begins with this paragraph's last line, if `line` is its delimiter row."""
        header = self.lines[-1]
        if "|" not in header or syntax.indent_of(header) >= syntax.TAB_STOP:
            return None
        cells = syntax.cells_of(header)
        aligns = syntax.aligns_of(line, len(cells))
        if aligns is None:
            return None
        self.lines.pop()
        return TableRegion(cells, aligns)

    def close(self) -> list[Piece]:
        """See `Region.close`."""
        return [Block("\n".join(self.lines))] if self.lines else []


class QuoteRegion(Region):
    """Lines marked `>`, and unmarked ones that carry on a paragraph in it."""

    kind = "quote"

    def __init__(self, line: str) -> None:
        super().__init__()
        self._fence: syntax.Fence | None = None
        self._lazy = False
        self.take(line)

    def take(self, line: str) -> bool:
        """See `Region.take`."""
        if syntax.is_quote(line):
            content = line.lstrip(" ")[1:].removeprefix(" ")
            self._fence = _follow_fence(self._fence, content)
            self._lazy = self._fence is None and bool(content.strip()) and not syntax.is_heading(content)
        elif not self._lazy or not _carries_on(line):
            return False
        self.lines.append(line)
        return True

    def close(self) -> list[Piece]:
        """See `Region.close`."""
        return [Block("\n".join(self.lines))]


class ItemRegion(Region):
    """A list item with all that is indented below it."""

    kind = "item"

    def __init__(self, mark: syntax.ItemMark, shown: str, indent: int) -> None:
        super().__init__(mark.text)
        self._offset = mark.offset
        self._shown = shown
        self._indent = indent
        self._fence = _follow_fence(None, mark.text)

    def take(self, line: str) -> bool:
        """See `Region.take`."""
        if not line.strip():
            self.blank = True
            self.over = not any(self.lines)
            self.lines.append("")
            return True
        if syntax.indent_of(line) >= self._offset:
            content = syntax.expand_indent(line)[self._offset :]
            self._fence = _follow_fence(self._fence, content.lstrip(" "))
        elif self.blank or self._fence is not None or not _carries_on(line):
            return False
        else:
            content = line.lstrip(" \t")
        self.blank = False
        self.lines.append(content)
        return True

    def close(self) -> list[Piece]:
        """See `Region.close`."""
        return [Item("\n".join(self.lines).rstrip("\n"), self._shown, self._indent)]


class NoteRegion(Region):
    """A footnote's definition with what is indented below it."""

    kind = "note"

    def __init__(self, label: str, text: str) -> None:
        super().__init__(text)
        self._label = label

    def take(self, line: str) -> bool:
        """See `Region.take`."""
        if not line.strip():
            self.blank = True
            self.lines.append("")
            return True
        indent = syntax.indent_of(line)
        if indent < 2 and (self.blank or syntax.is_definition(line) or not _carries_on(line)):
            return False
        self.blank = False
        self.lines.append(syntax.expand_indent(line)[min(indent, syntax.TAB_STOP) :])
        return True

    def close(self) -> list[Piece]:
        """See `Region.close`."""
        return [Note(self._label, "\n".join(self.lines).rstrip("\n"))]


class HtmlRegion(Region):
    """HTML up to its end mark, or to a blank line when it has none."""

    kind = "html"

    def __init__(self, line: str, end_mark: str) -> None:
        super().__init__()
        self._end_mark = end_mark
        self.take(line)

    def take(self, line: str) -> bool:
        """See `Region.take`."""
        if not self._end_mark and not line.strip():
            return False
        self.lines.append(line)
        self.over = bool(self._end_mark) and self._end_mark in line.lower()
        return True

    def close(self) -> list[Piece]:
        """See `Region.close`."""
        return [Html("\n".join(self.lines))]


class FenceRegion(Region):
    """A code fence. Its lines are complete as they come."""

    kind = "code"

    def __init__(self, fence: syntax.Fence) -> None:
        super().__init__()
        self._fence = fence
        self._ready: list[Piece] = [CodeOpen(fence.info)]

    def take(self, line: str) -> bool:
        """See `Region.take`."""
        if self._fence.is_closed_by(line):
            self.over = True
        else:
            blanks = len(line) - len(line.lstrip(" "))
            self._ready = [*self._ready, CodeLine(line[min(blanks, self._fence.indent) :])]
        return True

    def give(self) -> list[Piece]:
        """See `Region.give`."""
        ready, self._ready = self._ready, []
        return ready


class IndentedRegion(Region):
    """Code by indentation. Blank lines in it wait for the next line of code."""

    kind = "code"

    def __init__(self, line: str) -> None:
        super().__init__()
        self._ready: list[Piece] = [CodeOpen("")]
        self.take(line)

    def take(self, line: str) -> bool:
        """See `Region.take`."""
        if not line.strip():
            self.blank = True
            self.lines.append("")
            return True
        if syntax.indent_of(line) < syntax.TAB_STOP:
            return False
        self.lines.append(syntax.expand_indent(line)[syntax.TAB_STOP :])
        self._ready = [*self._ready, *map(CodeLine, self.lines)]
        self.lines = []
        self.blank = False
        return True

    def give(self) -> list[Piece]:
        """See `Region.give`."""
        ready, self._ready = self._ready, []
        return ready


class TableRegion(Region):
    """A table. The first rows decide its columns; those after them are complete as they come."""

    kind = "table"

    def __init__(self, header: tuple[str, ...], aligns: tuple[Align, ...]) -> None:
        super().__init__()
        self._header = header
        self._aligns = aligns
        self._given = False

    def take(self, line: str) -> bool:
        """See `Region.take`."""
        if "|" not in line or syntax.interrupts(line):
            return False
        self.lines.append(line)
        return True

    def give(self) -> list[Piece]:
        """See `Region.give`."""
        if self._given:
            rows = [TableRow(row) for row in self._rows()]
            self.lines = []
            return list(rows)
        return self.close() if len(self.lines) == WIDTH_ROWS else []

    def close(self) -> list[Piece]:
        """See `Region.close`."""
        if self._given:
            return []
        rows = self._rows()
        self._given, self.lines = True, []
        return [Table(self._header, self._aligns, rows)]

    def _rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows taken, each with as many cells as the header: missing ones empty, surplus ones joined on."""
        count = len(self._header)
        rows: list[tuple[str, ...]] = []
        for line in self.lines:
            cells = syntax.cells_of(line)
            if len(cells) > count:
                cells = (*cells[: count - 1], " | ".join(cells[count - 1 :]))
            rows.append(cells + ("",) * (count - len(cells)))
        return tuple(rows)


def _follow_fence(fence: syntax.Fence | None, content: str) -> syntax.Fence | None:
    """The fence that is open after a line of content."""
    if fence is None:
        return syntax.fence_of(content)
    return None if fence.is_closed_by(content) else fence


def _carries_on(line: str) -> bool:
    """Whether an unmarked line can carry on the paragraph inside a list item, quote or note."""
    return not syntax.interrupts(line) and not syntax.is_setext(line) and syntax.item_of(line) is None
