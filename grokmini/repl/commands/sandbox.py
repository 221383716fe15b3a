"""/sandbox: what confines commands and file tools, and another profile from the next command on."""

from __future__ import annotations

import asyncio

from grokmini.protocol.commands import SetSandbox
from grokmini.render.lines import Line, Span, line_of
from grokmini.render.look import DIM
from grokmini.render.spans import hanging, wrap_spans
from grokmini.repl.commands.result import CommandContext, Say

_LABEL = 11
_HINT = "/sandbox NAME changes it: tightening at once, loosening after a question"


async def run(argument: str, context: CommandContext) -> SetSandbox | Say:
    """With a name, wish for that profile (the session says when there is none such); else what is enforced."""
    if argument:
        return SetSandbox(argument)
    rows = await context.opened.sandbox()
    lines: list[Line] = []
    for label, value in rows:
        span = Span(value)
        lead = Span(f"{label:<{_LABEL}}", DIM)
        lines += hanging(lambda inner, span=span: wrap_spans((span,), inner), lead, context.width)  # type: ignore[misc]
    names = await asyncio.to_thread(context.factory.arguments, "sandbox")
    return Say((*lines, line_of(f"profiles: {', '.join(names)}"), line_of(_HINT)))
