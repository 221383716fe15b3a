"""/session-info: what there is to know of the session."""

from __future__ import annotations

import asyncio

from grokmini.render.lines import Line, Span
from grokmini.render.look import DIM
from grokmini.repl.commands.result import CommandContext, Say
from grokmini.text.tokens import percent_of

_LABEL = 10


async def run(argument: str, context: CommandContext) -> Say:
    """One row for each fact."""
    facts = await asyncio.to_thread(context.opened.facts)
    state, glyphs = context.state, context.look.glyphs
    rows = [*facts, ("mode", state.mode.value), ("sandbox", state.sandbox)]
    if state.context_window:
        percent = percent_of(state.context_tokens, state.context_window)
        filled = f"~{percent:.0f} % of {state.context_window:,} tokens"
        rows.append(("context", f"{filled}{glyphs.dot}/context shows of what"))
    return Say(tuple(Line((Span(f"{name:<{_LABEL}}", DIM), Span(value))) for name, value in rows if value))
