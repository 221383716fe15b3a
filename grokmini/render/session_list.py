"""Lists of sessions: columns that stand under each other, as wide as the terminal allows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from grokmini.render.figures import ago
from grokmini.text.width import cell_width, cut_to_width

ID_LENGTH = 8
"""Characters of an id that are shown, unless more are needed to tell it from all others."""

NO_TITLE = "(no prompt yet)"
LEAST_TITLE = 12
"""Cells that a title keeps beside a folder on a narrow screen."""


class Row(NamedTuple):
    """One session of a list. `age` is in seconds; `folder` is empty where all rows have the same."""

    session_id: str
    title: str
    age: float
    prompts: int
    live: bool
    pinned: bool
    folder: str = ""


def unique_length(shown: Sequence[str], every: Sequence[str]) -> int:
    """How many characters (8 or more) of the shown ids tell them from all others."""
    ordered = sorted(every)
    most = ID_LENGTH
    for one in shown:
        at = bisect_left(ordered, one)
        for other in ordered[max(0, at - 1) : at] + ordered[at + 1 : at + 2]:
            most = max(most, _common(one, other) + 1)
    return most


def _common(one: str, other: str) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def table(rows: Sequence[Row], *, width: int | None, id_length: int) -> list[str]:
    """The rows as lines, none wider than `width` (None: as wide as they are).

    Where the screen is too narrow the folders go first, then the number of prompts, then marks become signs.
    """
    prompts = [f"{row.prompts} prompt{'' if row.prompts == 1 else 's'}" for row in rows]
    marks = [_marks(row) for row in rows]
    narrow = width is not None and width < 60
    columns = [
        [row.session_id[:id_length] for row in rows],
        [ago(row.age) for row in rows],
        *([] if narrow else [prompts]),
        [("*" if row.live else "") + ("+" if row.pinned else "") for row in rows] if narrow else marks,
    ]
    leads = _aligned(columns, right={1, 2} if not narrow else {1})
    room = None if width is None else max(LEAST_TITLE, width - (cell_width(leads[0]) if leads else 0))
    return [
        (lead + text).rstrip()
        for lead, text in zip(leads, _titles(rows, None if narrow else room, room), strict=True)
    ]


def _marks(row: Row) -> str:
    return " ".join(word for word, on in (("live", row.live), ("pinned", row.pinned)) if on)


def _aligned(columns: Sequence[Sequence[str]], right: set[int]) -> list[str]:
    """The columns side by side with two blanks behind each; a column with nothing in it is left out."""
    lines = [""] * len(columns[0])
    for number, column in enumerate(columns):
        widest = max(map(cell_width, column), default=0)
        if widest == 0:
            continue
        for index, text in enumerate(column):
            blanks = " " * (widest - cell_width(text))
            lines[index] += f"{blanks}{text}  " if number in right else f"{text}{blanks}  "
    return lines


def _titles(rows: Sequence[Row], folder_room: int | None, room: int | None) -> list[str]:
    """Title and folder; where there is no room for both, the title alone."""
    folders = any(row.folder for row in rows)
    if room is None:
        widest = max((cell_width(row.title) for row in rows), default=0) if folders else 0
        return [f"{row.title}{' ' * (widest - cell_width(row.title))}  {row.folder}".rstrip() for row in rows]
    if not folders or folder_room is None or folder_room < 3 * LEAST_TITLE:
        return [cut_to_width(row.title, room) for row in rows]
    widest_folder = min(max(cell_width(row.folder) for row in rows), room // 2)
    widest = min(max(cell_width(row.title) for row in rows), room - widest_folder - 2)
    lines = []
    for row in rows:
        title = cut_to_width(row.title, widest)
        lines.append(f"{title}{' ' * (widest - cell_width(title))}  {_tail(row.folder, room - widest - 2)}")
    return lines


def _tail(path: str, cells: int) -> str:
    """The end of a path: its last folders say most."""
    if cell_width(path) <= cells:
        return path
    kept = path
    while kept and cell_width(kept) > cells - 1:
        kept = kept[1:]
    return f"…{kept}"
