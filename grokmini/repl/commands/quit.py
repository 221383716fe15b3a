"""/quit: leave."""

from __future__ import annotations

from grokmini.repl.commands.result import CommandContext, Leave


async def run(argument: str, context: CommandContext) -> Leave:
    """Leave; a turn that runs is stopped, and the session is saved."""
    return Leave()
