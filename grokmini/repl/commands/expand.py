"""/expand: a call with all of its output, printed once more below."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from grokmini.protocol.errors import UsageError
from grokmini.protocol.events import SessionEvent, ToolCallReady, ToolFinished
from grokmini.render.linear import LinearView
from grokmini.render.lines import Line
from grokmini.render.look import Look
from grokmini.render.toolview import WHOLE
from grokmini.repl.commands.result import CommandContext, Page, Say

HINT = "/expand {id}"
"""What stands behind the number of lines that are not shown."""

LONG = 200
"""Rows from which it is shown in the pager."""


async def run(argument: str, context: CommandContext) -> Say | Page:
    """The call that is named as the hint below its output names it, else the last one. Raises `UsageError`."""
    past, width, look = context.opened.past, context.width, context.look
    lines = await asyncio.to_thread(lambda: call_lines(past(), argument, width, look))
    if not lines:
        what = f"no call {argument}" if argument else "no call"
        raise UsageError(f"there is {what} in this session", "/transcript shows everything")
    return Page(tuple(lines)) if len(lines) > LONG else Say(tuple(lines))


def call_lines(events: Iterable[SessionEvent], call_id: str, width: int, look: Look) -> list[Line]:
    """One finished call in full, the last one without an id; nothing when there is none."""
    ready: dict[str, ToolCallReady] = {}
    found: tuple[ToolCallReady, ToolFinished] | None = None
    for event in events:
        if isinstance(event, ToolCallReady):
            ready[event.call_id] = event
        elif isinstance(event, ToolFinished) and call_id in ("", event.call_id) and event.call_id in ready:
            found = ready[event.call_id], event
    if found is None:
        return []
    view = LinearView(width=width, unicode=look.unicode, show_reasoning=True, tool_preview=WHOLE)
    return [*(line for event in found for line in view.apply(event)), *view.settle()]
