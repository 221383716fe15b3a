"""The status line: what is really in force, in one row that fits any width."""

from __future__ import annotations

import sys
from typing import NamedTuple

from grokmini.render.figures import clock_text, count_text, money_text
from grokmini.render.lines import Line, Span, Style, join_spans
from grokmini.render.look import DIM, WARNING, Look
from grokmini.text.tokens import percent_of
from grokmini.text.width import cell_width, cut_to_width


class StatusFacts(NamedTuple):
    """What the line says. `context_tokens` of `context_window` is an estimate; `seconds` is how long the work has
    gone on, None when nothing runs; `waiting` says that the model is silent; `tokens` is what the session has used,
    `cost` in US dollars, None when it is not known; `keys` tells that letters are commands; `hint` is what a key
    does now and stands at the right.
    """

    model: str
    mode: str
    sandbox: str
    context_tokens: int = 0
    context_window: int = 0
    branch: str = ""
    folder: str = ""
    seconds: int | None = None
    tokens: int = 0
    cost: float | None = None
    keys: str = ""
    waiting: bool = False
    hint: str = ""
    urgent: bool = False


def status_line(facts: StatusFacts, width: int, look: Look) -> Line:
    """The row. Narrow, it keeps model, mode and percent, and the sandbox where it is missing or does not hold whole.
    The hint gives way before these, unless it is urgent; branch, folder, tokens and words that only explain before it.
    """
    hint = facts.hint
    beside = max(0, width - cell_width(hint) - 2) if hint else width
    left = _fitted(facts, beside if facts.urgent else width, look)
    if hint and not facts.urgent and cell_width(left) > beside:
        left = _beside(facts._replace(branch="", folder="", tokens=0), beside, width, look) or left
    gap = width - cell_width(left) - cell_width(hint)
    if not hint or (gap < 2 and not facts.urgent):
        return Line((Span(left, DIM),))
    if not left or gap < 2:
        return Line((Span(cut_to_width(hint, width, look.glyphs.ellipsis), _style(facts)),))
    return Line(join_spans((Span(left + " " * gap, DIM), Span(hint, _style(facts)))))


def _beside(facts: StatusFacts, room: int, width: int, look: Look) -> str:
    """The facts, in fewer words or fewer of them where they leave no room for the hint; "" if they never do."""
    every, terse = _fitted(facts, sys.maxsize, look), _fitted(facts, width, look, terse=True)
    fewer = _fitted(facts, width, look)
    return next((text for text in (every, terse, fewer) if cell_width(text) <= room), "")


def _fitted(facts: StatusFacts, room: int, look: Look, *, terse: bool = False) -> str:
    """The facts that fit, the less telling ones dropped first; at the narrowest the model's name is cut."""
    dot = look.glyphs.dot
    wanting = _is_wanting(facts.sandbox)
    sandbox = facts.sandbox if terse and not wanting else f"sandbox {facts.sandbox}" if facts.sandbox else ""
    warned = sandbox if wanting else ""
    parts = [
        (0, facts.model),
        (1, facts.mode),
        (2, warned),
        (3, facts.keys),
        (6, "" if warned else sandbox),
        (4, _percent(facts) if terse else _context(facts)),
        (5, _elapsed(facts)),
        (9, f"{count_text(facts.tokens)} tokens" if facts.tokens else ""),
        (7, "" if facts.cost is None else money_text(facts.cost)),
        (8, facts.branch),
        (10, facts.folder),
    ]
    kept = [part for part in parts if part[1]]
    least = 1 if facts.urgent else 4 if warned else 3
    while len(kept) > least and cell_width(dot.join(text for _, text in kept)) > room:
        kept.remove(max(kept))
    full = dot.join(text for _, text in kept)
    if cell_width(full) <= room or len(kept) < 3 or facts.urgent:
        return cut_to_width(full, room, look.glyphs.ellipsis)
    rest = dot + dot.join(filter(None, (facts.mode, warned, _percent(facts))))
    name = cut_to_width(facts.model, max(0, room - cell_width(rest)), look.glyphs.ellipsis)
    return cut_to_width(name + rest if name else rest.removeprefix(dot), room, look.glyphs.ellipsis)


def _is_wanting(sandbox: str) -> bool:
    """Whether nothing confines, or less than the profile promises: the label then says so behind a comma."""
    return sandbox in ("off", "none") or ("," in sandbox and not sandbox.endswith(", untried"))


def _style(facts: StatusFacts) -> Style:
    return WARNING if facts.urgent else DIM


def _elapsed(facts: StatusFacts) -> str:
    if facts.seconds is None:
        return ""
    return f"{clock_text(facts.seconds)} waiting" if facts.waiting else clock_text(facts.seconds)


def _percent(facts: StatusFacts) -> str:
    if not facts.context_window:
        return ""
    percent = percent_of(facts.context_tokens, facts.context_window)
    return "<1%" if 0 < percent < 1 else f"~{percent:.0f}%"


def _context(facts: StatusFacts) -> str:
    if not facts.context_window:
        return ""
    return f"{_percent(facts)} of {count_text(facts.context_window)}"
