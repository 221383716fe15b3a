"""/sandbox: what confines commands and file tools, and another profile from the next command on."""

from __future__ import annotations

import asyncio

from grokmini.protocol.commands import SetSandbox
from grokmini.render.lines import Line, Span
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
    names = await asyncio.to_thread(context.factory.arguments, "sandbox")
    for label, value in (*rows, ("profiles", ", ".join(names))):
        lines += _row(label, value, context.width)
    return Say((*lines, *wrap_spans((Span(_HINT),), context.width)))


def _row(label: str, value: str, width: int) -> list[Line]:
    return hanging(lambda inner: wrap_spans((Span(value),), inner), Span(f"{label:<{_LABEL}}", DIM), width)
