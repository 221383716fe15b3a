"""What streamed Markdown is cut into: pieces that later text cannot change."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Align: TypeAlias = Literal["left", "right", "center"]


class Block(NamedTuple):
    """Source that stands by itself: a paragraph, heading, quote or rule."""

    source: str


class Item(NamedTuple):
    """A top-level list item: its source without mark and indentation.

    `mark` is the number as it is to be shown, empty for a bullet; `indent` is how far the source indents the
    item below another kind of list.
    """

    source: str
    mark: str
    indent: int


class Html(NamedTuple):
    """HTML, shown as the text it is."""

    source: str


class Note(NamedTuple):
    """A footnote's definition, drawn where it stands."""

    label: str
    source: str


class CodeOpen(NamedTuple):
    """Code begins; its lines follow. `info` is the fence's info string."""

    info: str


class CodeLine(NamedTuple):
    """One line of the code that was opened last."""

    text: str


class Table(NamedTuple):
    """A table with all its rows, or with the first that decide its columns."""

    header: tuple[str, ...]
    aligns: tuple[Align, ...]
    rows: tuple[tuple[str, ...], ...]


class TableRow(NamedTuple):
    """One more row of the table given out last."""

    cells: tuple[str, ...]


class Gap(NamedTuple):
    """A blank line belongs between what came before and what comes next."""


Piece: TypeAlias = Block | Item | Html | Note | CodeOpen | CodeLine | Table | TableRow | Gap
