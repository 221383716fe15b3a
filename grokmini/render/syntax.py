"""The marks that begin and end Markdown blocks, one line at a time."""

from __future__ import annotations

import re
from typing import NamedTuple

from grokmini.render.pieces import Align

TAB_STOP = 4

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})[ \t]*(.*)$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]|$)")
_RULE = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})$")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_QUOTE = re.compile(r" {0,3}>")
_ITEM = re.compile(r"( {0,3})([*+-]|\d{1,9}[.)])( +|$)(.*)$")
_NOTE = re.compile(r" {0,3}\[\^([^\]\s\[]{1,200})\]:[ \t]*(.*)$")
_DEFINITION = re.compile(r" {0,3}\[[^\]\[]{1,999}\]:")
_DELIMITER_CELL = re.compile(r":?-+:?")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_HTML_TO_MARK = re.compile(
    r" {0,3}<(?:(?P<comment>!--)|(?P<process>\?)|(?P<cdata>!\[CDATA\[)|(?P<declare>![A-Za-z])"
    r"|(?P<tag>script|pre|style|textarea)(?=[\s>]|$))",
    re.IGNORECASE,
)
_HTML_MARKS = {"comment": "-->", "process": "?>", "cdata": "]]>", "declare": ">"}
_HTML_BLOCK = re.compile(
    r" {0,3}</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details"
    r"|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html"
    r"|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section"
    r"|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:[\s>]|/>|$)",
    re.IGNORECASE,
)


class Fence(NamedTuple):
    """The opening of a code fence."""

    indent: int
    mark: str
    info: str

    def is_closed_by(self, line: str) -> bool:
        """Whether the line is this fence's end."""
        text = line.strip(" \t")
        return indent_of(line) < TAB_STOP and len(text) >= len(self.mark) and not text.strip(self.mark[0])


class ItemMark(NamedTuple):
    """The mark of a list item: its `kind` (`-`, `*`, `+`, `.`, `)`), its number, columns, and first text.

    `offset` is the column from which following lines belong to the item.
    """

    indent: int
    kind: str
    number: int | None
    offset: int
    text: str


def expand_indent(line: str) -> str:
    """The line with the tabs among its leading blanks as spaces."""
    body = line.lstrip(" \t")
    lead = line[: len(line) - len(body)]
    return lead.expandtabs(TAB_STOP) + body if "\t" in lead else line


def indent_of(line: str) -> int:
    """Columns of blank before the line's text."""
    body = line.lstrip(" \t")
    return len(line[: len(line) - len(body)].expandtabs(TAB_STOP))


def fence_of(line: str) -> Fence | None:
    """The fence that the line opens, if it does."""
    match = _FENCE.match(line)
    if match is None or (match[2][0] == "`" and "`" in match[3]):
        return None
    return Fence(len(match[1]), match[2], match[3].strip())


def item_of(line: str) -> ItemMark | None:
    """The list item that the line begins, if it does."""
    match = _ITEM.match(line.expandtabs(TAB_STOP))
    if match is None or is_rule(line):
        return None
    indent, mark, blanks, text = match.groups()
    if not text or len(blanks) > TAB_STOP:
        text, blanks = blanks[1:] + text if text else "", " "
    number = int(mark[:-1]) if len(mark) > 1 else None
    return ItemMark(len(indent), mark[-1], number, len(indent) + len(mark) + len(blanks), text)


def note_of(line: str) -> tuple[str, str] | None:
    """Label and first text of the footnote definition that the line begins, if it does."""
    match = _NOTE.match(line)
    return (match[1], match[2]) if match else None


def is_definition(line: str) -> bool:
    """Whether the line looks like the definition of a link or a footnote."""
    return _DEFINITION.match(line) is not None


def is_heading(line: str) -> bool:
    """Whether the line is a heading by itself (`#`)."""
    return _HEADING.match(line) is not None


def is_rule(line: str) -> bool:
    """Whether the line is a thematic break."""
    return _RULE.match(line) is not None


def is_setext(line: str) -> bool:
    """Whether the line would make a heading of the paragraph above it."""
    return _SETEXT.match(line) is not None


def is_quote(line: str) -> bool:
    """Whether the line begins or continues a quote."""
    return _QUOTE.match(line) is not None


def html_end_of(line: str) -> str | None:
    """How the HTML block that the line begins ends: by a mark, or by a blank line (""). None: it begins none."""
    if match := _HTML_TO_MARK.match(line):
        kind = match.lastgroup or ""
        return _HTML_MARKS.get(kind) or f"</{match['tag'].lower()}>"
    return "" if _HTML_BLOCK.match(line) else None


def interrupts(line: str) -> bool:
    """Whether the line begins a block even where a paragraph goes on."""
    if not line.strip():
        return True
    item = item_of(line)
    return (
        (item is not None and bool(item.text) and item.number in (None, 1))
        or is_heading(line)
        or is_quote(line)
        or is_rule(line)
        or fence_of(line) is not None
        or note_of(line) is not None
        or html_end_of(line) is not None
    )


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a table's row; `\\|` is a bar inside a cell."""
    text = line.strip(" \t")
    text = text.removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    return tuple(cell.strip(" \t").replace("\\|", "|") for cell in _CELL_BORDER.split(text))


def aligns_of(line: str, columns: int) -> tuple[Align, ...] | None:
    """The alignments if the line is the delimiter row of a table with that many columns."""
    if "|" not in line or "-" not in line or indent_of(line) >= TAB_STOP:
        return None
    cells = cells_of(line)
    if len(cells) != columns or not all(map(_DELIMITER_CELL.fullmatch, cells)):
        return None
    return tuple(_align(cell) for cell in cells)


def _align(cell: str) -> Align:
    if cell.endswith(":"):
        return "center" if cell.startswith(":") else "right"
    return "left"
