"""What a submitted text is: a slash command, a shell command or a prompt."""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

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

    A mark alone is nobody's prompt: it asks what can be typed.
    """
    stripped = text.strip()
    if stripped in ("/", "!"):
        return Slash("help", "")
    if slash := _SLASH.fullmatch(stripped):
        return Slash(slash[1], (slash[2] or "").strip())
    if stripped.startswith("!") and stripped[1:].strip():
        return Shell(stripped[1:].strip())
    return Message(text)
