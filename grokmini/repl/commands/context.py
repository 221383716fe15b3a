"""/context: what fills the model's window, as a bar and by category."""

from __future__ import annotations

from grokmini.render.context_bar import context_lines
from grokmini.repl.commands.result import CommandContext, Say, say_lines


async def run(argument: str, context: CommandContext) -> Say:
    """The estimate of the next request by category. Raises `SessionError` for a session that is only watched."""
    return say_lines(context_lines(await context.opened.context(), context.width, context.look))
