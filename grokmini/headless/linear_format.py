"""A whole run as linear lines on standard output, as the REPL's linear mode prints it."""

from __future__ import annotations

from collections.abc import Iterable

from grokmini.headless.run_state import RunState
from grokmini.protocol.events import EventRecord, SessionEvent, TurnEnded
from grokmini.render.linear import LinearView
from grokmini.render.lines import Line, ansi


class LinearFormat:
    """Every event as the lines that a person sees. `colours` is the colour level, 0 for plain text."""

    def __init__(self, view: LinearView, colours: int) -> None:
        self._view = view
        self._colours = colours

    def event(self, record: EventRecord) -> bytes:
        """The lines that are finished by now."""
        return self._bytes(self._view.apply(record.event))

    def end(self, record: EventRecord, ended: TurnEnded, state: RunState) -> bytes:
        """The rest, and the line of figures."""
        return self._bytes([*self._view.apply(ended), *self._view.settle()])

    def _bytes(self, lines: Iterable[Line]) -> bytes:
        return "".join(ansi(line, self._colours) + "\n" for line in lines).encode()


class Unwatched:
    """An onlooker that says nothing, for runs whose lines tell everything."""

    def apply(self, event: SessionEvent) -> None:
        """Nothing to add."""
