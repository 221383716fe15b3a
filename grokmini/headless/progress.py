"""What a person hears on stderr while a headless run goes on, and how it ended if it did not end well."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from grokmini.protocol.events import (
    Notice,
    ReasoningDelta,
    RetryScheduled,
    SessionEvent,
    SessionStarted,
    TextDelta,
    TurnEnded,
    TurnStarted,
)

if TYPE_CHECKING:
    from grokmini.render.linear import LinearView

_ON_STDOUT = (TextDelta, ReasoningDelta, SessionStarted, TurnStarted)


class Progress:
    """Warnings, errors and what is waited for always; each step as a line only with a `view`, which a terminal gets.

    `write` takes whole lines, made harmless already.
    """

    def __init__(
        self, say: Callable[[str], None], write: Callable[[str], None], view: LinearView | None, colours: int
    ):
        self._say = say
        self._write = write
        self._view = view
        self._colours = colours

    def apply(self, event: SessionEvent) -> None:
        """Tell of one event."""
        if isinstance(event, TurnEnded):
            self._ended(event)
        elif isinstance(event, Notice) and (event.level != "info" or self._view):
            self._say(f"! {event.text}")
        elif isinstance(event, RetryScheduled):
            from grokmini.render.blocks import retry_text  # most runs need none

            self._say(f"! {retry_text(event)}")
        elif self._view and not isinstance(event, (Notice, *_ON_STDOUT)):
            from grokmini.render.lines import ansi  # a run that nobody watches needs no styling

            for line in self._view.apply(event):
                self._write(ansi(line, self._colours) + "\n")

    def _ended(self, ended: TurnEnded) -> None:
        if ended.error is not None:
            message = ended.error.message
            headline = message if message.startswith("grokmini ") else f"grokmini: {message}"
            self._say("\n  ".join(filter(None, (headline, ended.error.hint))))
        elif ended.outcome == "max_turns_reached":
            self._say(f"grokmini: stopped after {ended.rounds} model rounds\n  --max-turns sets the limit")
        for rule in ended.denied:
            from grokmini.tools.rules import way_to_allow

            way = ended.ways.get(rule) or f"allow it with {way_to_allow(rule)}"
            self._say(f"grokmini: denied for want of permission: {rule}\n  {way}")
