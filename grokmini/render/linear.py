"""Session events as finished lines, for terminals without a live region."""

from __future__ import annotations

from grokmini.protocol.events import SessionEvent, TextDelta, TurnEnded
from grokmini.render.lines import Line, line_of


class LinearView:
    """Turns events into lines that can be printed now and never change."""

    def __init__(self, *, width: int, unicode: bool, show_reasoning: bool) -> None:
        self._pending = ""

    def apply(self, event: SessionEvent) -> list[Line]:
        """Lines to print now, in order."""
        if isinstance(event, TextDelta):
            *whole, self._pending = (self._pending + event.text).split("\n")
            return [line_of(text) for text in whole]
        return self.settle() if isinstance(event, TurnEnded) else []

    def settle(self) -> list[Line]:
        """Whatever is pending."""
        text, self._pending = self._pending, ""
        return [line_of(text)] if text else []
