"""/model: the models, or another one from the next request on."""

from __future__ import annotations

from grokmini.protocol.commands import SetModel
from grokmini.repl.commands.result import CommandContext, Say, say


async def run(argument: str, context: CommandContext) -> SetModel | Say:
    """With a name, choose that model (the session says when it knows none of that name); else list them."""
    if argument:
        return SetModel(argument)
    current = context.state.model
    others = [name for name in context.factory.models() if name != current]
    return say(f"model: {current}", *(f"  /model {name}" for name in others))
