"""Replacing one text by another in a file's text: pure, exact, and sure of the place or not done.

The order: exact (CRLF counts as LF); else whole lines that differ in indentation alone, if there is one such
place and the file's own indentation can be worked out; else a refusal that knows why.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from grokmini.workspace.confusables import Confusable, find_confusables
from grokmini.workspace.indentation import reindented_match
from grokmini.workspace.line_ends import LineFeedView

Reason = Literal["same", "missing", "ambiguous"]
MAX_LINES_NAMED = 8
MAX_NEAREST = 200


class Edited(NamedTuple):
    """The new text. `lines` are the numbers (from 1) where replacing began, in the old text.

    `reindented` says that only the indentation differed and the file's own was used.
    """

    text: str
    lines: tuple[int, ...]
    reindented: bool = False


class Refusal(NamedTuple):
    """Why nothing was replaced.

    `lines`: where the text is found more than once. `nearest`: number and text of the line most like the first
    one wanted. `indentation_at`: number and text of the line from which only white space differs.
    `confusables`: look-alike characters that explain the miss. `numbered`: the wanted text begins with line
    numbers of a listing.
    """

    reason: Reason
    lines: tuple[int, ...] = ()
    nearest: tuple[int, str] | None = None
    indentation_at: tuple[int, str] | None = None
    confusables: tuple[Confusable, ...] = ()
    numbered: bool = False


EditResult: TypeAlias = Edited | Refusal


def replace_text(text: str, old: str, new: str, *, replace_all: bool = False) -> EditResult:
    """Replace `old`, which must not be empty, by `new` in a file's text."""
    view = LineFeedView(text)
    wanted = old.replace("\r\n", "\n")
    if old == new or (view.has_crlf and wanted == new.replace("\r\n", "\n")):
        return Refusal("same")
    starts = find_all(view.text, wanted, overlapping=not replace_all)
    if len(starts) == 1 or (starts and replace_all):
        spans = [(start, start + len(wanted), new) for start in starts]
        return Edited(_splice(view, spans), tuple(line_of(view.text, start) for start in starts))
    if starts:
        return Refusal("ambiguous", lines=tuple(line_of(view.text, start) for start in starts))
    match = reindented_match(view.text, wanted, new.replace("\r\n", "\n"))
    if match.span is not None and match.replacement is not None:
        start, end = match.span
        if view.text[start:end] == match.replacement:
            return Refusal("same")
        return Edited(
            _splice(view, [(start, end, match.replacement)]), (line_of(view.text, start),), reindented=True
        )
    return _missing(view.text, wanted, match.lines)


def find_all(text: str, wanted: str, *, overlapping: bool = False) -> list[int]:
    """Every offset of `wanted`, from left to right."""
    found = []
    at = text.find(wanted)
    while at >= 0:
        found.append(at)
        at = text.find(wanted, at + (1 if overlapping else len(wanted)))
    return found


def line_of(text: str, offset: int) -> int:
    """The number, from 1, of the line an offset is in."""
    return text.count("\n", 0, offset) + 1


def _splice(view: LineFeedView, spans: list[tuple[int, int, str]]) -> str:
    parts = []
    done = 0
    for start, end, new in spans:
        parts.append(view.original[done : view.original_offset(start)])
        parts.append(view.with_line_ends(start, end, new))
        done = view.original_offset(end)
    parts.append(view.original[done:])
    return "".join(parts)


def _missing(text: str, wanted: str, indentation_lines: tuple[int, ...]) -> Refusal:
    if len(indentation_lines) > 1:
        return Refusal("ambiguous", lines=indentation_lines)
    first = next((line.strip() for line in wanted.split("\n") if line.strip()), "")
    marker, arrow, _ = first.partition("→")
    return Refusal(
        "missing",
        nearest=nearest_line(text, first),
        indentation_at=_numbered_line(text, indentation_lines[0]) if indentation_lines else None,
        confusables=find_confusables(text, wanted),
        numbered=bool(arrow) and marker.strip().isdigit(),
    )


def _numbered_line(text: str, number: int) -> tuple[int, str]:
    return number, text.split("\n", number)[number - 1][:MAX_NEAREST]


def nearest_line(text: str, wanted: str) -> tuple[int, str] | None:
    """The first line that holds the longest word of `wanted` found at all, with its number."""
    for word in sorted(set(_words(wanted)), key=lambda word: (-len(word), word)):
        at = text.find(word)
        if at >= 0:
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            line = text[start : end if end >= 0 else len(text)]
            return line_of(text, at), line.strip()[:MAX_NEAREST]
    return None


def _words(line: str) -> list[str]:
    spaced = "".join(char if char.isalnum() or char == "_" else " " for char in line)
    return [word for word in spaced.split() if len(word) > 2]
