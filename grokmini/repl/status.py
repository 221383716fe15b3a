"""The status line: what is really in force, in one row that fits any width."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.render.figures import count_text
from grokmini.render.lines import Line, Span, Style
from grokmini.render.look import DIM, WARNING, Look
from grokmini.text.width import cell_width, cut_to_width


class StatusFacts(NamedTuple):
    """What the line says. `context_tokens` of `context_window` is an estimate; `seconds` is how long the work has
    gone on, None when nothing runs; `hint` is what a key does now and stands at the right.
    """

    model: str
    mode: str
    sandbox: str
    context_tokens: int = 0
    context_window: int = 0
    branch: str = ""
    folder: str = ""
    seconds: int | None = None
    hint: str = ""
    urgent: bool = False


def status_line(facts: StatusFacts, width: int, look: Look) -> Line:
    """The row. Narrow, it keeps model, mode and percent; the hint gives way first, unless it is urgent."""
    dot = look.glyphs.dot
    parts = [
        (0, facts.model),
        (1, facts.mode),
        (4, f"sandbox {facts.sandbox}" if facts.sandbox else ""),
        (2, _context(facts)),
        (3, f"{facts.seconds} s" if facts.seconds is not None else ""),
        (5, facts.branch),
        (6, facts.folder),
    ]
    kept = [part for part in parts if part[1]]
    hint = facts.hint
    room = width - (cell_width(hint) + 2 if hint and facts.urgent else 0)
    while len(kept) > 1 and cell_width(dot.join(text for _, text in kept)) > room:
        kept.remove(max(kept))
    left = cut_to_width(dot.join(text for _, text in kept), max(0, room), look.glyphs.ellipsis)
    gap = width - cell_width(left) - cell_width(hint)
    if not hint or (gap < 2 and not facts.urgent):
        return Line((Span(left, DIM),))
    if not left or gap < 2:
        return Line((Span(cut_to_width(hint, width, look.glyphs.ellipsis), _style(facts)),))
    return Line((Span(left + " " * gap, DIM), Span(hint, _style(facts))))


def _style(facts: StatusFacts) -> Style:
    return WARNING if facts.urgent else DIM


def _context(facts: StatusFacts) -> str:
    if not facts.context_window:
        return ""
    percent = 100 * facts.context_tokens / facts.context_window
    shown = "<1%" if 0 < percent < 1 else f"~{percent:.0f}%"
    return f"{shown} of {count_text(facts.context_window)}"
