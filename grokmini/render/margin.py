"""A streamed text apart from the others: under a word that says what it is, behind a margin."""

from __future__ import annotations

from grokmini.render.lines import Line, Span, indented, line_of
from grokmini.render.look import DIM
from grokmini.render.stream import MarkdownStream

REASONING = "thinking"
MARGIN = "  "
LEAST_INNER = 20
"""Columns of text below which the margin is left out."""


def inner_width(width: int) -> int:
    """The columns that are left of so many."""
    inner = width - len(MARGIN)
    return inner if inner >= LEAST_INNER else max(1, width)


class MarginStream:
    """Gives the lines of a stream that draws at `inner_width`. Colour alone would not tell it from an answer."""

    def __init__(self, stream: MarkdownStream, width: int, word: str = REASONING) -> None:
        self._stream = stream
        self._lead = _lead_at(width)
        self._head = [line_of(word, DIM)]

    def feed(self, text: str) -> list[Line]:
        """Take more text; the lines that it makes final."""
        return self._headed(self._stream.feed(text))

    def finish(self) -> list[Line]:
        """No more comes: the rest."""
        return self._headed(self._stream.finish())

    def tail(self) -> list[Line]:
        """What is not final, as it looks now."""
        lines = indented(self._stream.tail(), self._lead, self._lead)
        return [*self._head, *lines] if lines else []

    def resize(self, width: int) -> None:
        """Draw at another width from now on."""
        self._lead = _lead_at(width)
        self._stream.resize(inner_width(width))

    def _headed(self, lines: list[Line]) -> list[Line]:
        if not lines:
            return []
        head, self._head = self._head, []
        return [*head, *indented(lines, self._lead, self._lead)]


def _lead_at(width: int) -> Span:
    return Span(MARGIN if inner_width(width) < width else "")
