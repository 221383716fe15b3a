"""A permission question on a terminal without a live region: lines to print, and what a typed answer means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from grokmini.protocol.events import PermissionAsked
from grokmini.protocol.permission import PermissionAnswer, PermissionOption
from grokmini.render.lines import Line, Span, line_of
from grokmini.render.look import BOLD, DIM
from grokmini.repl.diff_lines import change_lines
from grokmini.text.diff import count_changes

GUARD = 0.400
"""Seconds without any key before a key counts as an answer (spec: terminal.md)."""
DIFF_LINES = 60
"""Lines of a diff that are shown before the options; the whole of a longer one on demand."""
ANSWER_PROMPT = "answer: "
REASON_PROMPT = "what should it do instead? "
WHOLE_DIFF = "d"


class Answer(NamedTuple):
    """What a typed line means: an option, a wish to see the whole diff, or nothing that is known."""

    kind: Literal["option", "diff", "unknown"]
    option: PermissionOption | None = None


def question_lines(asked: PermissionAsked) -> list[Line]:
    """The question, what it is about, the change it would make, and the numbered answers."""
    lines = [Line((Span(asked.title, BOLD), Span(_counts(asked.diff))))]
    lines += [line_of(f"  {row}") for row in asked.subject.split("\n") if asked.subject]
    lines += [line_of(f"  {row}", DIM) for row in asked.details]
    rows = change_lines(asked.diff, "  ")
    lines += rows[:DIFF_LINES]
    if len(rows) > DIFF_LINES:
        lines.append(line_of(f"  … {len(rows) - DIFF_LINES} more lines", DIM))
    return lines + option_lines(asked)


def option_lines(asked: PermissionAsked) -> list[Line]:
    """One line for each answer: its number, its words, and its key where that is another."""
    lines: list[Line] = []
    for number, option in enumerate(asked.options, 1):
        key = f" ({option.key})" if option.key not in ("", str(number)) else ""
        lines.append(line_of(f"  {number} {option.label}{key}"))
    if len(change_lines(asked.diff, "  ")) > DIFF_LINES:
        lines.append(line_of(f"  {WHOLE_DIFF} whole diff"))
    return lines


def read_answer(typed: str, asked: PermissionAsked) -> Answer:
    """What the typed line means: a number, an option's key, `y` or `n`, in any case."""
    word = typed.strip().casefold()
    options = asked.options
    for option in options:
        if option.key and word == option.key.casefold():
            return Answer("option", option)
    if word.isascii() and word.isdigit() and 1 <= int(word[:4]) <= len(options):
        return Answer("option", options[int(word[:4]) - 1])
    if word == WHOLE_DIFF and asked.diff:
        return Answer("diff")
    plain = {"y": "allow", "yes": "allow", "n": "deny", "no": "deny"}.get(word)
    for option in options:
        if option.decision == plain and option.scope == "once" and not option.wants_text:
            return Answer("option", option)
    return Answer("unknown")


def answer_of(option: PermissionOption, text: str = "") -> PermissionAnswer:
    """The answer that choosing the option gives."""
    return PermissionAnswer(option.decision, option.scope, option.rule, text)


def choices(options: Sequence[PermissionOption]) -> str:
    """The sentence that tells what may be typed."""
    return f"type a number from 1 to {len(options)}, then Enter"


def _counts(diff: str) -> str:
    if not diff:
        return ""
    added, removed = count_changes(diff)
    return f"  +{added} -{removed}"
