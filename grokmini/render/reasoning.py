"""The model's reasoning as it streams: under a word that says what it is, behind a margin."""

from __future__ import annotations

from grokmini.render.code import Languages
from grokmini.render.lines import Line, Span, indented, line_of
from grokmini.render.look import DIM, Look
from grokmini.render.stream import MarkdownStream

WORD = "thinking"
MARGIN = "  "
LEAST_INNER = 20
"""Columns of text below which the margin is left out."""


class ReasoningStream:
    """Draws as `MarkdownStream` does, but apart from answers: colour alone would not tell it from one."""

    def __init__(self, width: int, look: Look, languages: Languages) -> None:
        self._lead = _lead_at(width)
        self._stream = MarkdownStream(width - len(self._lead.text), look, languages, DIM)
        self._head = [line_of(WORD, DIM)]

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
        self._stream.resize(width - len(self._lead.text))

    def _headed(self, lines: list[Line]) -> list[Line]:
        if not lines:
            return []
        head, self._head = self._head, []
        return [*head, *indented(lines, self._lead, self._lead)]


def _lead_at(width: int) -> Span:
    return Span(MARGIN if width - len(MARGIN) >= LEAST_INNER else "")
