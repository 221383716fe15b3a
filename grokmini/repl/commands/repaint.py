"""/repaint: the last turns once more, at the width that the terminal has now."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from grokmini.protocol.events import SessionEvent
from grokmini.render.linear import LinearView
from grokmini.render.lines import Line
from grokmini.render.look import Look
from grokmini.repl.commands.result import CommandContext, Say, say

TURNS = 2


async def run(argument: str, context: CommandContext) -> Say:
    """Print the last turns again; what stands in the scrollback is the terminal's and stays as it is."""
    opened, width, look = context.opened, context.width, context.look
    lines = await asyncio.to_thread(lambda: turn_lines(opened.last_turns(TURNS), width, look))
    return Say(tuple(lines)) if lines else say("there is no turn to print again")


def turn_lines(events: Iterable[SessionEvent], width: int, look: Look) -> list[Line]:
    """The events as finished lines."""
    view = LinearView(width=width, unicode=look.unicode, show_reasoning=True)
    lines = [line for event in events for line in view.apply(event)]
    return [*lines, *view.settle()]
