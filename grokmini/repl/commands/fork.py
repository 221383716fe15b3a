"""/fork: go on in a copy; the session stays as it is."""

from __future__ import annotations

import asyncio

from grokmini.protocol.errors import UsageError
from grokmini.repl.commands.result import CommandContext, Result
from grokmini.repl.commands.stored import go_on_in, named, refuse_while_busy


async def run(argument: str, context: CommandContext) -> Result:
    """A copy of this session, or up to where prompt N began (`/fork 3`), or of another that is named.

    Raises `UsageError`, `SessionError`.
    """
    if (refused := refuse_while_busy(context)) is not None:
        return refused
    before: int | None = None
    if argument.isascii() and argument.isdigit() and len(argument) < 8:
        if int(argument) < 1:
            raise UsageError("prompts are counted from 1", "/fork 1 begins anew, /fork 3 keeps two prompts")
        before, argument = int(argument) - 1, ""
    row = await named(argument, context)
    opened = await context.factory.fork(row.session_id, before)
    title = (await asyncio.to_thread(context.factory.find, opened.handle.session_id)).title
    return await go_on_in(context, opened, title)
