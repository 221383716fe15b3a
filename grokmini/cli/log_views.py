"""The forms of `grokmini log`: events in, text out."""

from __future__ import annotations

import os
from typing import Protocol

from grokmini.protocol.codec import encode_event
from grokmini.protocol.events import EventRecord
from grokmini.render.capabilities import BASIC, Capabilities
from grokmini.render.linear import LinearView
from grokmini.render.lines import Line, ansi
from grokmini.render.markdown_log import MarkdownLog
from grokmini.render.toolview import WHOLE
from grokmini.text.sanitise import sanitise


class LogView(Protocol):
    """Turns events into text that is final, ending in a newline."""

    def apply(self, record: EventRecord) -> str:
        """What the event adds; often nothing."""

    def settle(self) -> str:
        """What was still open."""


class LinesView:
    """What the screen showed, nothing shortened."""

    def __init__(self, width: int, *, unicode: bool, colour_level: int, reasoning: bool, home: str) -> None:
        self._view = LinearView(
            width=width, unicode=unicode, show_reasoning=reasoning, tool_preview=WHOLE, home=home
        )
        self._colour_level = colour_level

    def apply(self, record: EventRecord) -> str:
        """See `LogView`."""
        return self._text(self._view.apply(record.event))

    def settle(self) -> str:
        """See `LogView`."""
        return self._text(self._view.settle())

    def _text(self, lines: list[Line]) -> str:
        return "".join(f"{ansi(line, self._colour_level)}\n" for line in lines)


class MarkdownView:
    """The session as Markdown."""

    def __init__(self, *, reasoning: bool, home: str) -> None:
        self._log = MarkdownLog(reasoning=reasoning, home=home)

    def apply(self, record: EventRecord) -> str:
        """See `LogView`."""
        return self._log.apply(record.event)

    def settle(self) -> str:
        """See `LogView`."""
        return self._log.settle()


class JsonView:
    """One line an event, as it is stored; on a terminal harmless."""

    def __init__(self, *, harmless: bool) -> None:
        self._harmless = harmless

    def apply(self, record: EventRecord) -> str:
        """See `LogView`."""
        line = encode_event(record).decode()
        return f"{sanitise(line, newlines=False) if self._harmless else line}\n"

    def settle(self) -> str:
        """See `LogView`."""
        return ""


def view_of(form: str, found: Capabilities, *, is_terminal: bool, colours: str, reasoning: bool) -> LogView:
    """The view for a form (`ansi`, `plain`, `markdown`, `json`, or "" to go by the output).

    `colours` is auto, always or never; auto means at a terminal only. `found` is what the output can show.
    """
    home = os.environ.get("HOME", "")
    if form == "markdown":
        return MarkdownView(reasoning=reasoning, home=home)
    if form == "json":
        return JsonView(harmless=is_terminal)
    if form == "plain" or (colours == "never" and form != "ansi"):
        level = 0
    elif form == "ansi" or colours == "always":
        level = max(BASIC, found.colour_level)
    else:
        level = found.colour_level if is_terminal else 0
    return LinesView(found.width, unicode=found.unicode, colour_level=level, reasoning=reasoning, home=home)
