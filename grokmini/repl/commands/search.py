"""/search: where something was said, in the sessions of every folder."""

from __future__ import annotations

import asyncio

from grokmini.protocol.errors import UsageError
from grokmini.render.figures import ago
from grokmini.render.lines import Line, line_of
from grokmini.render.look import DIM
from grokmini.render.session_list import unique_length
from grokmini.repl.commands.result import CommandContext, Say, say
from grokmini.text.width import cut_to_width


async def run(argument: str, context: CommandContext) -> Say:
    """Each hit in two lines: the session and the words around. Raises `UsageError`, `SessionError`."""
    if not argument:
        raise UsageError("/search needs words", "/search flaky login")
    hits = await asyncio.to_thread(context.factory.search, argument)
    if not hits:
        return say(f"nothing fits {argument!r}")
    ids = [hit.row.session_id for hit in hits]
    length = unique_length(ids, ids)
    lines: list[Line] = []
    for hit in hits:
        words = (hit.row.session_id[:length], ago(hit.row.age), hit.where, hit.row.title)
        lines.append(line_of(cut_to_width("  ".join(filter(None, words)), context.width)))
        lines.append(line_of(cut_to_width(f"    {hit.snippet}", context.width), DIM))
    lines.append(line_of("/resume ID goes on with one", DIM))
    return Say(tuple(lines))
