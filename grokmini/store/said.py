"""What is searched for of a session's events: prompts, replies and tool names, as pieces of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from grokmini.protocol.events import EventRecord, TextDelta, ToolCallReady, TurnEnded, TurnStarted

PIECE: Final = 20_000
"""Characters of a text that one row holds; longer ones are split."""


class Piece(NamedTuple):
    """A text as it is indexed."""

    text: str
    prompt: int
    kind: str


class Said:
    """What is searched for of a session's events, a message at a time, however they come in."""

    def __init__(self, prompt: int, reply: str = "") -> None:
        """`prompt` is the one that the events begin in, `reply` the beginning of one that they go on with."""
        self.prompt = prompt
        self._reply = [reply] if reply else []

    def take(self, records: Iterable[EventRecord]) -> list[Piece]:
        """The pieces of what has ended with these events."""
        pieces: list[Piece] = []
        for record in records:
            event = record.event
            if isinstance(event, TextDelta):
                self._reply.append(event.text)
            elif isinstance(event, TurnStarted):
                pieces += self._end_reply()
                self.prompt = event.prompt_index
                pieces += _split(event.text, self.prompt, "prompt")
            elif isinstance(event, ToolCallReady):
                pieces += self._end_reply()
                pieces.append(Piece(event.tool.name, self.prompt, "tool"))
            elif isinstance(event, TurnEnded):
                pieces += self._end_reply()
        return pieces

    def unfinished(self) -> list[Piece]:
        """The pieces of a reply that goes on, as far as it is known."""
        return list(_split("".join(self._reply), self.prompt, "reply"))

    def _end_reply(self) -> list[Piece]:
        pieces = self.unfinished()
        self._reply.clear()
        return pieces


def _split(text: str, prompt: int, kind: str) -> Iterator[Piece]:
    """A text in pieces, cut between words where there is any such place."""
    start = 0
    while start < len(text):
        end = start + PIECE
        if end < len(text):
            between = max(text.rfind(blank, start, end) for blank in " \n\t")
            end = between + 1 if between > start else end
        yield Piece(text[start:end], prompt, kind)
        start = end
