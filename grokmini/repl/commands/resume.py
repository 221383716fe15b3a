"""/resume: go on with a stored session, named or chosen from a list."""

from __future__ import annotations

import asyncio

from grokmini.repl.commands.result import CommandContext, Pick, Result, say
from grokmini.repl.commands.stored import go_on_in, label, refuse_while_busy, said


async def run(argument: str, context: CommandContext) -> Result:
    """By id, beginning of one or title; without one the person picks. Raises `SessionError`."""
    if (refused := refuse_while_busy(context)) is not None:
        return refused
    if argument:
        row = await asyncio.to_thread(context.factory.find, argument)
        return await resume(row.session_id, context)
    own = context.opened.handle.session_id

    async def chosen(session_id: str) -> Result:
        return await resume(session_id, context)

    return Pick(
        "go on with",
        "/resume",
        lambda everywhere: [
            row for row in context.factory.stored(everywhere=everywhere) if row.session_id != own
        ],
        lambda words: said(words, context),
        chosen,
    )


async def resume(session_id: str, context: CommandContext) -> Result:
    """Open it. One that another process drives is named with what can be done. Raises `SessionError`."""
    row = await asyncio.to_thread(context.factory.find, session_id)
    if session_id == context.opened.handle.session_id and not context.opened.watched:
        return say("that is the session you are in")
    if row.live:
        return say(
            f"{label(row)} is open in another window.",
            f"/follow {session_id} watches it and waits: once it is free, /takeover goes on in it",
            f"/fork {session_id} goes on in a copy, as it is now",
        )
    return await go_on_in(context, await context.factory.resume(session_id), row.title)
