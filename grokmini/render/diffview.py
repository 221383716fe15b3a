"""A unified diff as people read it: line numbers, signs, colours."""

from __future__ import annotations

import re
from typing import NamedTuple

from grokmini.render.lines import PLAIN, Line, Span, Style, join_spans
from grokmini.render.look import ADDED, DIM, REMOVED, Look
from grokmini.render.spans import hanging, wrap_spans
from grokmini.text.width import cut_to_width

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_TAB_WIDTH = 4


class _Row(NamedTuple):
    """One line of a diff; `number` is 0 where hunks are divided."""

    number: int
    sign: str
    text: str


def diff_lines(diff: str, width: int, look: Look, *, whole: bool = False) -> list[Line]:
    """The changed lines with their numbers and surroundings, without headers.

    Lines are cut to the width, or wrapped when `whole` (a person decides by what is shown).
    """
    rows = _rows(diff)
    digits = max((len(str(row.number)) for row in rows), default=1)
    lines: list[Line] = []
    for row in rows:
        if not row.number:
            lines.append(Line((Span(cut_to_width(look.glyphs.ellipsis, width, ""), DIM),)))
            continue
        style = {"+": ADDED, "-": REMOVED}.get(row.sign, PLAIN)
        lead = f"{row.number:>{digits}} {row.sign} "
        text = Span(row.text.expandtabs(_TAB_WIDTH), style).text
        if whole:
            lines.extend(_wrapped(lead, text, style, width))
        else:
            cut = cut_to_width((lead + text).rstrip(" "), width, look.glyphs.ellipsis)
            spans = (Span(cut[: len(lead)], DIM.over(style)), Span(cut[len(lead) :], style))
            lines.append(Line(join_spans(spans)))
    return lines


def _wrapped(lead: str, text: str, style: Style, width: int) -> list[Line]:
    spans = (Span(text, style),)
    return hanging(lambda inner: wrap_spans(spans, inner), Span(lead, DIM.over(style)), width)


def _rows(diff: str) -> list[_Row]:
    """The lines of all hunks, by the hunks' own counts."""
    rows: list[_Row] = []
    old = new = old_left = new_left = 0
    for line in diff.split("\n"):
        if old_left <= 0 and new_left <= 0:
            if match := _HUNK.match(line):
                if rows:
                    rows.append(_Row(0, "", ""))
                old, new = int(match[1]), int(match[3])
                old_left, new_left = (int(count) if count else 1 for count in (match[2], match[4]))
            continue
        sign, text = line[:1] or " ", line[1:]
        if sign == "-":
            rows.append(_Row(old, sign, text))
            old, old_left = old + 1, old_left - 1
        elif sign == "+":
            rows.append(_Row(new, sign, text))
            new, new_left = new + 1, new_left - 1
        elif sign == " ":
            rows.append(_Row(new, sign, text))
            old, new, old_left, new_left = old + 1, new + 1, old_left - 1, new_left - 1
    texts = [row for row in rows if row.number]
    if texts and all(row.text.endswith("\r") for row in texts):
        return [row._replace(text=row.text.removesuffix("\r")) for row in rows]
    return rows
