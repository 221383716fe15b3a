"""Prompts too big for the conversation: head and tail stay, the whole goes to a file of the session.

The closing question survives: 80 % of the room goes to the prompt itself, head and tail, the rest to attached
context (spec: session-loop.md, "A turn").
"""

from __future__ import annotations

from typing import NamedTuple

PROMPT_LIMIT = 25_000
_PROMPT_SHARE = 0.8


class Shortened(NamedTuple):
    """A prompt as it goes into the conversation, and the whole text if it had to be cut."""

    text: str
    whole: str | None


def _cut(text: str, limit: int) -> str:
    """At most `limit` bytes: the first and the last half, at character borders."""
    data = text.encode()
    if len(data) <= limit:
        return text
    half = limit // 2
    head = data[:half].decode("utf-8", "ignore")
    tail = data[len(data) - half :].decode("utf-8", "ignore")
    omitted = len(data) - len(head.encode()) - len(tail.encode())
    return f"{head}\n[… {omitted} bytes left out here …]\n{tail}"


def shorten(prompt: str, context: str = "") -> Shortened:
    """Fit a prompt and its attached context into `PROMPT_LIMIT` bytes."""
    whole = f"{prompt}\n\n{context}" if context else prompt
    if len(whole.encode()) <= PROMPT_LIMIT:
        return Shortened(whole, None)
    if not context:
        return Shortened(_cut(prompt, PROMPT_LIMIT), whole)
    room = int(PROMPT_LIMIT * _PROMPT_SHARE)
    short = _cut(prompt, room)
    rest = _cut(context, PROMPT_LIMIT - min(room, len(short.encode())))
    return Shortened(f"{short}\n\n{rest}", whole)


def note_for(path: str | None, read_tool: str) -> str:
    """The line that tells the model where the whole prompt is, or honestly that it is gone."""
    if path is None:
        return "[The prompt was too long and could not be saved; the part left out is not available.]"
    return f"[The whole prompt is in {path}; read it with {read_tool} before you start.]"
