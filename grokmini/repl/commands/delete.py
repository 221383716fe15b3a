"""/delete: remove another stored session for good."""

from __future__ import annotations

import asyncio

from grokmini.protocol.errors import UsageError
from grokmini.repl.commands.result import CommandContext, Say, say
from grokmini.repl.commands.stored import label

YES = "yes"


async def run(argument: str, context: CommandContext) -> Say:
    """Says what would go; with `yes` behind the name it goes. Raises `UsageError`, `SessionError`."""
    name, _, last = argument.rpartition(" ")
    sure = bool(name) and last == YES
    wanted = name.strip() if sure else argument
    if not wanted:
        raise UsageError("/delete needs a session", "/delete ID or title; /resume lists them")
    row = await asyncio.to_thread(context.factory.find, wanted)
    if row.session_id == context.opened.handle.session_id:
        return say(f"that is the session you are in: leave it first (/new), then /delete {row.session_id}")
    if not sure:
        return say(f"{label(row)} would be gone for good: /delete {row.session_id} yes")
    await asyncio.to_thread(context.factory.delete, row.session_id)
    return say(f"deleted: {label(row)}")
