"""/model: the models, or another one from the next request on."""

from __future__ import annotations

from grokmini.protocol.commands import SetModel
from grokmini.repl.commands.result import CommandContext, Say, say

MOST_SHOWN = 40


async def run(argument: str, context: CommandContext) -> SetModel | Say:
    """With a name, choose that model, one that its server does not list at the second time; else list them."""
    if argument:
        name, doubt = await context.factory.model_meant(argument)
        if doubt:
            return say(f"! {doubt}.", f"/model {argument} once more takes it all the same.")
        return SetModel(name)
    current = context.state.model
    names = await context.factory.models()
    more = [f"  and {len(names) - MOST_SHOWN:,} more: Tab completes them"] if len(names) > MOST_SHOWN else []
    listed = [f"  /model {name}{'  (in use)' if name == current else ''}" for name in names[:MOST_SHOWN]]
    return say(f"model: {current}", *listed, *more)
