"""/pin: keep a session from every clean-up."""

from __future__ import annotations

import asyncio

from grokmini.repl.commands.result import CommandContext, Say, say
from grokmini.repl.commands.stored import label, named


async def run(argument: str, context: CommandContext) -> Say:
    """This session, or the one that is named; typed again it takes the pin out. Raises `SessionError`."""
    row = await named(argument, context)
    await asyncio.to_thread(context.factory.pin, row.session_id, not row.pinned)
    if row.pinned:
        return say(f"{label(row)} is no longer pinned")
    return say(f"{label(row)} is pinned: no clean-up removes it; /pin again takes the pin out")
