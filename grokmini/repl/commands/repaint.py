"""/repaint: the last turns once more, at the width that the terminal has now."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable

from grokmini.protocol.events import SessionEvent, TurnStarted
from grokmini.render.linear import LinearView
from grokmini.render.lines import Line
from grokmini.repl.commands.result import CommandContext, Say, say

TURNS = 2


async def run(argument: str, context: CommandContext) -> Say:
    """Print the last turns again; what stands in the scrollback is the terminal's and stays as it is."""
    width = context.width
    lines = await asyncio.to_thread(lambda: last_turns(context.opened.past(), width))
    return Say(tuple(lines)) if lines else say("there is no turn to print again")


def last_turns(events: Iterable[SessionEvent], width: int) -> list[Line]:
    """The last turns as finished lines."""
    turns: deque[list[SessionEvent]] = deque(maxlen=TURNS)
    for event in events:
        if isinstance(event, TurnStarted):
            turns.append([])
        if turns:
            turns[-1].append(event)
    view = LinearView(width=width, unicode=True, show_reasoning=True)
    lines = [line for turn in turns for event in turn for line in view.apply(event)]
    return [*lines, *view.settle()]
