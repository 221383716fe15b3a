"""/takeover: drive the session that was watched, once its driver has left."""

from __future__ import annotations

from grokmini.repl.commands.result import CommandContext, GoOn, Say, say


async def run(argument: str, context: CommandContext) -> GoOn | Say:
    """Load it from its files and go on. Raises `SessionBusyError` while the other process still drives it."""
    if not context.opened.watched:
        return say("this session is yours already")
    return GoOn(await context.factory.resume(context.opened.handle.session_id))
