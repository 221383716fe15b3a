"""/transcript: the whole session so far, unabridged, in the pager."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable

from grokmini.protocol.events import SessionEvent
from grokmini.render.linear import LinearView
from grokmini.render.lines import Line
from grokmini.render.toolview import Preview
from grokmini.repl.commands.result import CommandContext, Page, Say, say

WIDTH = 100
_ALL = sys.maxsize


async def run(argument: str, context: CommandContext) -> Page | Say:
    """Everything that was said and done, with no output cut."""
    lines = await asyncio.to_thread(lambda: whole(context.opened.past()))
    return Page(tuple(lines)) if lines else say("nothing of this session is kept")


def whole(events: Iterable[SessionEvent]) -> list[Line]:
    """The events as finished lines, everything shown in full."""
    preview = Preview(run=_ALL, listing=_ALL, failure=_ALL, diff=_ALL)
    view = LinearView(width=WIDTH, unicode=True, show_reasoning=True, tool_preview=preview)
    lines = [line for event in events for line in view.apply(event)]
    return [*lines, *view.settle()]
