"""What a typed answer to a permission question means. Pure, the same in every mode of the REPL."""

from __future__ import annotations

from collections.abc import Sequence

from grokmini.protocol.permission import PermissionAnswer, PermissionOption

GUARD = 0.400
"""Seconds without any key before a key counts as an answer (spec: terminal.md)."""

_WORDS = {"y": "allow", "yes": "allow", "n": "deny", "no": "deny"}


def read_answer(typed: str, options: Sequence[PermissionOption]) -> PermissionOption | None:
    """The option that is meant by its key or by `y`, `yes`, `n`, `no`, in any case; None for none."""
    word = typed.strip().casefold()
    for option in options:
        if option.key and word == option.key.casefold():
            return option
    for option in options:
        if option.decision == _WORDS.get(word) and option.scope == "once" and not option.wants_text:
            return option
    return None


def answer_of(option: PermissionOption, text: str = "") -> PermissionAnswer:
    """The answer that choosing the option gives."""
    return PermissionAnswer(option.decision, option.scope, option.rule, text)


def keys_of(options: Sequence[PermissionOption]) -> str:
    """The keys that answer, for a hint: `1, 3 or 4`."""
    *others, last = [option.key for option in options]
    return f"{', '.join(others)} or {last}" if others else last
