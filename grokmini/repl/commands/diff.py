"""/diff: what this session changed in files."""

from __future__ import annotations

import asyncio

from grokmini.render.lines import PLAIN, Line, Style, line_of
from grokmini.render.look import ADDED, BOLD, DIM, REMOVED
from grokmini.repl.commands.result import CommandContext, Page, Say, say

LONG = 60
"""Rows from which a diff is shown in the pager."""


async def run(argument: str, context: CommandContext) -> Say | Page:
    """The unified diff of everything the agent changed, as `git apply` would take it."""
    diff = await asyncio.to_thread(context.opened.diff)
    if not diff.strip():
        return say("this session has changed no file")
    lines = tuple(diff_lines(diff))
    return Page(lines) if len(lines) > LONG else Say(lines)


def diff_lines(diff: str) -> list[Line]:
    """The rows of the diff; colours say again what the signs say."""
    return [line_of(row, _style(row)) for row in diff.removesuffix("\n").split("\n")]


def _style(row: str) -> Style:
    if row.startswith(("--- ", "+++ ")):
        return BOLD
    if row.startswith("@@"):
        return DIM
    return {"+": ADDED, "-": REMOVED}.get(row[:1], PLAIN)
