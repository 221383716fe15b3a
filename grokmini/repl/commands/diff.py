"""/diff: what this session changed in files."""

from __future__ import annotations

import asyncio

from grokmini.render.lines import PLAIN, Line, Style, line_of
from grokmini.render.look import ADDED, BOLD, DIM, REMOVED
from grokmini.repl.commands.result import CommandContext, Say, say


async def run(argument: str, context: CommandContext) -> Say:
    """The unified diff of everything the agent changed, as `git apply` would take it."""
    diff = await asyncio.to_thread(context.opened.diff)
    return Say(tuple(diff_lines(diff))) if diff.strip() else say("this session has changed no file")


def diff_lines(diff: str) -> list[Line]:
    """The rows of the diff; colours say again what the signs say."""
    return [line_of(row, _style(row)) for row in diff.removesuffix("\n").split("\n")]


def _style(row: str) -> Style:
    if row.startswith(("--- ", "+++ ")):
        return BOLD
    if row.startswith("@@"):
        return DIM
    return {"+": ADDED, "-": REMOVED}.get(row[:1], PLAIN)
