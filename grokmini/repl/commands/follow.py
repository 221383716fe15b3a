"""/follow: watch a session that another window drives."""

from __future__ import annotations

import asyncio

from grokmini.repl.commands.result import CommandContext, Pick, Result, say
from grokmini.repl.commands.stored import go_on_in, refuse_while_busy, said


async def run(argument: str, context: CommandContext) -> Result:
    """The one that is named, or one to pick among those that run. Raises `SessionError`."""
    if (refused := refuse_while_busy(context)) is not None:
        return refused

    async def follow(session_id: str) -> Result:
        row = await asyncio.to_thread(context.factory.find, session_id)
        if session_id == context.opened.handle.session_id:
            return say("that is the session you are in")
        return await go_on_in(context, await context.factory.follow(row.session_id), f"watching {row.title}")

    if argument:
        return await follow((await asyncio.to_thread(context.factory.find, argument)).session_id)
    own = context.opened.handle.session_id
    return Pick(
        "watch",
        "/follow",
        lambda everywhere: [
            row for row in context.factory.stored(everywhere=everywhere) if row.live and row.session_id != own
        ],
        lambda words: [row for row in said(words, context) if row.live],
        follow,
    )
