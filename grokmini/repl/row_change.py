"""What changes between two pictures of the live rows: within a row, and by rows that only moved up."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from grokmini.render.lines import PLAIN, Line, Span, plain
from grokmini.repl.doubt import certain_length, is_certain
from grokmini.text.width import cell_width, graphemes

WORTH_SHIFTING = 16
"""Bytes of unchanged rows from which moving them costs less than writing them again."""


class Scrolled(NamedTuple):
    """The rows from `start` to before `end` stood `by` rows below, as they are or nearly so."""

    start: int
    end: int
    by: int


def scrolled(old: Sequence[Line], new: Sequence[Line], same: int) -> Scrolled | None:
    """Which rows only moved up among as many rows as before, if that spares more than it costs.

    The first row stays where it is: deleting the screen's first row could send it to the scrollback.
    """
    best, most = None, 2 * WORTH_SHIFTING
    for by in range(1, len(new) - same):
        at = max(1, same)
        while at + by < len(new):
            run = sum(
                1 for _ in takewhile(lambda pair: is_alike(*pair), zip(old[at + by :], new[at:], strict=False))
            )
            rows = range(at, at + run)
            saved = sum(alike(old[row + by], new[row]) - alike(old[row], new[row]) for row in rows)
            if saved > most:
                best, most = Scrolled(at, at + run, by), saved
            at += run + 1
    return best


def changed_tail(before: Line, after: Line) -> tuple[int, Line]:
    """From which cell on the second line differs from the first, and what it has from there.

    Nothing behind a doubtful character counts as the same: its column is not sure.
    """
    cells = index = 0
    for old, new in zip(before.spans, after.spans, strict=False):
        if old.style != new.style:
            break
        length = min(certain_length(old.text), certain_length(new.text), count_same(old.text, new.text))
        cells += cell_width(new.text[:length])
        if length < len(new.text) or length < len(old.text):
            rest = (Span(new.text[length:], new.style),) if length < len(new.text) else ()
            return cells, Line((*rest, *after.spans[index + 1 :]))
        index += 1
    return cells, Line(after.spans[index:])


def changed_middle(before: Line, after: Line) -> Line | None:
    """What differs when the rows begin and end alike; None when what follows is not sure to stand in its place."""
    if before.width != after.width or not (is_certain(plain(before)) and is_certain(plain(after))):
        return None
    tails = changed_tail(after, before)[1], changed_tail(before, after)[1]
    old, new = ([(letter, span.style) for span in tail.spans for letter in span.text] for tail in tails)
    end = count_same(old[::-1], new[::-1])
    changed = len(new) - end
    if not end or len(old) - end != changed or not all(plain(tail)[:changed].isascii() for tail in tails):
        return None
    return cut(tails[1], changed)


def typed_behind(before: Line, column: int, after: Line, end: int) -> str:
    """What was typed at the end of a row, where the cursor went from `column` to `end`; "" for any other change."""
    texts = plain(before).ljust(column), plain(after).ljust(end)
    ends = cell_width(texts[0]) == column and cell_width(texts[1]) == end
    typed = texts[1].removeprefix(texts[0])
    styled = any(span.style != PLAIN for span in changed_tail(before, after)[1].spans)
    if not ends or styled or not is_certain("".join(texts)) or typed == texts[1]:
        return ""
    return typed


def is_alike(before: Line, after: Line) -> bool:
    """Whether little of the row has to be written again, as in a status line with a clock."""
    return before == after or alike(before, after) >= WORTH_SHIFTING


def alike(before: Line, after: Line) -> int:
    """In how many cells the rows begin alike."""
    return after.width if before == after else changed_tail(before, after)[0]


def cut(line: Line, cells: int) -> Line:
    """What stands in the first `cells` cells."""
    kept: list[Span] = []
    for span in line.spans:
        text = ""
        for cluster in graphemes(span.text):
            if cells <= 0:
                break
            text += cluster
            cells -= cell_width(cluster)
        if text:
            kept.append(Span(text, span.style))
    return Line(tuple(kept))


def count_same(before: Sequence[object], after: Sequence[object]) -> int:
    """How many rows at the start are alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
