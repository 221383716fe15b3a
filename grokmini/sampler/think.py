"""Reasoning that a server leaves in the text, between `<think>` and `</think>` at the very beginning."""

from __future__ import annotations

from typing import NamedTuple

OPENING = "<think>"
CLOSING = "</think>"


class Split(NamedTuple):
    """A piece of the stream, parted."""

    reasoning: str
    text: str


class ThinkSplitter:
    """Parts the stream wherever the tags are cut. Tags later in the answer are text: it may be about them."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False
        self._behind = False
        self.settled = False
        """True once everything that follows is text."""

    def feed(self, piece: str) -> Split:
        """The reasoning and the text that are certain by now."""
        if self.settled:
            return Split("", piece)
        self._held += piece
        if self._behind:
            return Split("", self._answer())
        if not self._inside:
            start = self._held.lstrip()
            if not start or (len(start) < len(OPENING) and OPENING.startswith(start)):
                return Split("", "")
            if not start.startswith(OPENING):
                return Split("", self._settle())
            self._inside = True
            self._held = start.removeprefix(OPENING)
        return self._reasoning()

    def finish(self) -> Split:
        """What was held back."""
        rest = self._settle()
        return Split(rest, "") if self._inside else Split("", rest)

    def _reasoning(self) -> Split:
        reasoning, closing, text = self._held.partition(CLOSING)
        if closing:
            self._held, self._behind, self._inside = text, True, False
            return Split(reasoning, self._answer())
        keep = next((n for n in range(len(CLOSING) - 1, 0, -1) if reasoning.endswith(CLOSING[:n])), 0)
        self._held = reasoning[len(reasoning) - keep :]
        return Split(reasoning[: len(reasoning) - keep], "")

    def _answer(self) -> str:
        """What follows the reasoning, without the blank between them."""
        self._held = self._held.lstrip()
        return self._settle() if self._held else ""

    def _settle(self) -> str:
        rest, self._held, self.settled = self._held, "", True
        return rest
