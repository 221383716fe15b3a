"""/new: a fresh session."""

from __future__ import annotations

from grokmini.repl.commands.result import CommandContext, GoOn, Say, say


async def run(argument: str, context: CommandContext) -> GoOn | Say:
    """Go on in a fresh session, when no turn runs."""
    if context.state.busy:
        return say("a turn runs: Ctrl-C stops it, then /new")
    return GoOn(await context.factory.new())
