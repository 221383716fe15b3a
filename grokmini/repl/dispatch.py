"""What a submitted text is: a slash command, a shell command or a prompt."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

_WORDS = {"/": "help", "!": "help", "?": "help", "exit": "quit", "quit": "quit"}
"""What people type alone, and what is meant: nobody's prompt."""
_SLASH = re.compile(r"/([A-Za-z?][\w:?-]*)(?:\s+(.*))?\s*", re.DOTALL)


class Slash(NamedTuple):
    """`/name argument`."""

    name: str
    argument: str


class Shell(NamedTuple):
    """`!command`."""

    command: str


class Message(NamedTuple):
    """Words for the model."""

    text: str


Submission: TypeAlias = Slash | Shell | Message


def classify(text: str) -> Submission:
    """What the text is. A path (`/etc/hosts is wrong`) is no command: a second slash in the word tells.

    A mark alone asks what can be typed, and the word with which one leaves other programs leaves this one.
    """
    stripped = text.strip()
    if stripped in _WORDS:
        return Slash(_WORDS[stripped], "")
    if slash := _SLASH.fullmatch(stripped):
        return Slash(slash[1], (slash[2] or "").strip())
    if stripped.startswith("!") and stripped[1:].strip():
        return Shell(stripped[1:].strip())
    return Message(text)
