"""What the commands on stored sessions share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from grokmini.render.figures import ago
from grokmini.render.lines import EMPTY, Line, line_of
from grokmini.render.look import DIM
from grokmini.render.session_list import Row, table, unique_length
from grokmini.repl.commands.repaint import TURNS, turn_lines
from grokmini.repl.commands.result import CommandContext, GoOn, Say, say
from grokmini.repl.ports import OpenedSession

BUSY = "a turn runs: Ctrl-C stops it first"
SHOWN = 10
"""Sessions that a list names."""


async def go_on_in(context: CommandContext, opened: OpenedSession, title: str) -> GoOn:
    """Talk to another session, with its last turns printed first."""
    look, width = context.look, context.width
    past = await asyncio.to_thread(lambda: turn_lines(opened.last_turns(TURNS), width, look))
    heading = line_of(f"{look.glyphs.rule * 2} {title}", DIM)
    return GoOn(opened, (EMPTY, heading, *past))


def list_lines(rows: Sequence[Row], width: int) -> list[Line]:
    """The newest of the rows, as wide as the terminal; a last line says how many there are besides."""
    shown = rows[:SHOWN]
    length = unique_length([row.session_id for row in shown], [row.session_id for row in rows])
    lines = [line_of(text) for text in table(shown, width=width, id_length=length)]
    if len(rows) > len(shown):
        lines.append(line_of(f"and {len(rows) - len(shown):,} older", DIM))
    return lines


async def named(argument: str, context: CommandContext) -> Row:
    """The session that was named, else the one that is open. Raises `SessionError`."""
    text = argument or context.opened.handle.session_id
    return await asyncio.to_thread(context.factory.find, text)


def refuse_while_busy(context: CommandContext) -> Say | None:
    """What to say instead of leaving a session whose turn runs. One that is only watched may be left."""
    return say(BUSY) if context.state.busy and not context.opened.watched else None


def label(row: Row) -> str:
    """A session in a few words."""
    return f"{row.title} ({row.session_id[:8]}, {ago(row.age)})"


def said(words: str, context: CommandContext) -> list[Row]:
    """Other sessions in which words were said. Blocks."""
    own = context.opened.handle.session_id
    return [hit.row for hit in context.factory.search(words) if hit.row.session_id != own]
