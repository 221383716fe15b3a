"""/diff: what this session changed in files."""

from __future__ import annotations

import asyncio

from grokmini.repl.commands.result import CommandContext, Say, say, say_lines
from grokmini.repl.diff_lines import diff_lines


async def run(argument: str, context: CommandContext) -> Say:
    """The unified diff of everything the agent changed."""
    diff = await asyncio.to_thread(context.opened.diff)
    return say_lines(diff_lines(diff)) if diff.strip() else say("this session has changed no file")
