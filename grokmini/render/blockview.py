"""The blocks that are neither streamed text nor tool calls, as lines: prompts, notices, session and turn ends."""

from __future__ import annotations

import sys
from typing import Literal

from grokmini.protocol.events import SessionStarted, TurnEnded
from grokmini.render.figures import count_text, money_text, plural, seconds_text, short_path
from grokmini.render.lines import PLAIN, Line, Span, Style, line_of
from grokmini.render.look import DIM, FAILURE, PROMPT, WARNING, Look
from grokmini.render.markdown import wrap_lines
from grokmini.render.spans import fact_lines, hanging
from grokmini.text.sanitise import sanitise
from grokmini.text.width import cut_to_width

Level = Literal["info", "warning", "error"]


def prompt_lines(text: str, width: int, look: Look, most: int = sys.maxsize) -> list[Line]:
    """The person's own prompt: marked, wrapped, whole. One of more than `most` rows shows its beginning and its end."""
    shown = sanitise(text.replace("\r\n", "\n").expandtabs(4)).strip("\n")
    mark = Span(f"{look.glyphs.prompt} ", PROMPT)
    rows = hanging(lambda inner: wrap_lines(shown, inner, Style(bold=True)), mark, width)
    if len(rows) <= most:
        return rows
    end = most // 4
    hidden = len(rows) - (most - 1)
    more = look.spelled(f"  … {hidden:,} more rows · /transcript")
    return [*rows[: most - 1 - end], line_of(cut_to_width(more, width), DIM), *rows[len(rows) - end :]]


def notice_lines(level: Level, text: str, width: int, look: Look) -> list[Line]:
    """One thing to know; the mark says how serious it is."""
    glyph, style = {
        "info": (look.glyphs.info, DIM),
        "warning": (look.glyphs.warning, WARNING),
        "error": (look.glyphs.failed, FAILURE),
    }[level]
    shown = sanitise(text.expandtabs(4)).strip("\n")
    inside = DIM if level == "info" else PLAIN
    return hanging(lambda inner: wrap_lines(shown, inner, inside), Span(f"{glyph} ", style), width)


def session_lines(event: SessionStarted, width: int, look: Look, home: str = "") -> list[Line]:
    """Who, with which model, where, how confined: one line."""
    where = short_path(event.cwd, home=home) + (f" on {event.branch}" if event.branch else "")
    facts = [f"grokmini {event.version}", event.model, where, f"sandbox {event.sandbox}"]
    if event.resumed:
        facts.append("resumed")
    return fact_lines(facts, look.glyphs.dot, DIM, width)


def turn_lines(event: TurnEnded, width: int, look: Look, hint: str = "") -> list[Line]:
    """How the turn ended, if not well, and its figures in one dim line."""
    lines: list[Line] = []
    if event.error is not None:
        lines += notice_lines("error", event.error.message, width, look)
        if event.error.hint:
            lines += hanging(
                lambda inner: wrap_lines(sanitise(event.error.hint if event.error else ""), inner),
                Span("  "),
                width,
            )
    elif event.outcome != "completed":
        lines += notice_lines("warning", _ending(event), width, look)
    if event.refusal:
        lines += notice_lines("warning", "the model refused", width, look)
    if event.denied:
        lines += notice_lines(
            "warning", f"refused for want of permission: {', '.join(event.denied)}", width, look
        )
    return [*lines, *fact_lines(_figures(event, hint), look.glyphs.dot, DIM, width)]


def _ending(event: TurnEnded) -> str:
    if event.outcome == "max_turns_reached":
        return f"stopped after {plural(event.rounds, 'step')}, the limit set for a turn"
    if event.outcome == "cancelled":
        if event.reason == "permission":
            return "stopped: you said no"
        return "stopped" if event.reason in ("", "user") else f"stopped: {event.reason.replace('_', ' ')}"
    return f"ended in an error{f': {event.reason}' if event.reason else ''}"


def _figures(event: TurnEnded, hint: str) -> list[str]:
    facts = [seconds_text(event.seconds), plural(event.rounds, "step")]
    if event.usage.total:
        facts.append(f"{count_text(event.usage.total)} tokens")
    if event.cost_usd is not None:
        facts.append(money_text(event.cost_usd))
    if event.files_changed:
        facts.append(f"{plural(event.files_changed, 'file')} changed")
    return [*facts, hint]
