"""/diff: what this session changed in files since it was opened, and in which ones before."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence

from grokmini.protocol.events import SessionEvent, SessionStarted, ToolFinished
from grokmini.protocol.tools import DiffDisplay
from grokmini.render.lines import PLAIN, Line, Style, line_of
from grokmini.render.look import ADDED, BOLD, DIM, REMOVED
from grokmini.repl.commands.result import CommandContext, Page, Say, say
from grokmini.text.some import some_of

LONG = 60
"""Rows from which a diff is shown in the pager."""
NAMED = 8
"""Files named of those that were changed before."""


async def run(argument: str, context: CommandContext) -> Say | Page:
    """The unified diff of everything the agent changed, as `git apply` would take it. What it changed before the
    session was taken up again is named: those diffs are in the log.
    """
    diff = await asyncio.to_thread(context.opened.diff)
    earlier = await asyncio.to_thread(_changed_before, context.opened.past())
    told = _told_of(earlier, context.opened.handle.session_id)
    if not diff.strip():
        since = " since it was taken up again" if earlier else ""
        return say(f"this session has changed no file{since}", *told)
    lines = (*diff_lines(diff), *(line_of(row, DIM) for row in told))
    return Page(lines) if len(lines) > LONG else Say(lines)


def _told_of(paths: Sequence[str], session_id: str) -> list[str]:
    """One sentence about the files that were changed in earlier runs of the session; none for none."""
    if not paths:
        return []
    return [f"before that it changed {some_of(paths, NAMED)}: grokmini log {session_id[:8]} shows how"]


def _changed_before(past: Iterable[SessionEvent]) -> list[str]:
    """The files changed before the session was opened the last time, as they were changed first."""
    paths: dict[str, None] = {}
    before = 0
    for event in past:
        if isinstance(event, SessionStarted):
            before = len(paths)
        elif isinstance(event, ToolFinished) and isinstance(event.display, DiffDisplay):
            paths.setdefault(event.display.path)
    return list(paths)[:before]


def diff_lines(diff: str) -> list[Line]:
    """The rows of the diff; colours say again what the signs say."""
    return [line_of(row, _style(row)) for row in diff.removesuffix("\n").split("\n")]


def _style(row: str) -> Style:
    if row.startswith(("--- ", "+++ ")):
        return BOLD
    if row.startswith("@@"):
        return DIM
    return {"+": ADDED, "-": REMOVED}.get(row[:1], PLAIN)
