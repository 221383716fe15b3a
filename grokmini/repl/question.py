"""What a typed answer to a permission question means. Pure, the same in every mode of the REPL."""

from __future__ import annotations

from collections.abc import Sequence

from grokmini.protocol.permission import PermissionAnswer, PermissionOption

GUARD = 0.400
"""Seconds without any key before a key counts as an answer (spec: terminal.md)."""

_WORDS = {"y": "allow", "yes": "allow", "n": "deny", "no": "deny"}


def read_answer(typed: str, options: Sequence[PermissionOption]) -> PermissionOption | None:
    """The option that is meant by its key, its place or by `y`, `yes`, `n`, `no`, in any case; None for none."""
    word = typed.strip().casefold()
    for option in options:
        if option.key and word == option.key.casefold():
            return option
    if word.isascii() and word.isdigit() and 1 <= int(word[:4]) <= len(options):
        return options[int(word[:4]) - 1]
    for option in options:
        if option.decision == _WORDS.get(word) and option.scope == "once" and not option.wants_text:
            return option
    return None


def answer_of(option: PermissionOption, text: str = "") -> PermissionAnswer:
    """The answer that choosing the option gives."""
    return PermissionAnswer(option.decision, option.scope, option.rule, text)
