"""What the live region shows: the tail of what is under way, the input or the open question, queue and status.

Pure. The region never takes more than `LIVE_ROWS` rows, counted as they are on the screen, and always leaves
two rows of the terminal; an open question or menu may take all but two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grokmini.protocol.tools import TodoEntry
from grokmini.render.lines import EMPTY, Line, line_of
from grokmini.render.look import DIM, Look
from grokmini.repl.doubt import fit
from grokmini.repl.painter import Cursor, LiveView, Size
from grokmini.repl.session_state import Queued
from grokmini.text.width import cell_width, cut_to_width

LIVE_ROWS = 12
KEPT_FREE = 2
MENU_ROWS = 8


class LiveParts(NamedTuple):
    """The parts from top to bottom. `tail` are lines not committed yet; `panel` is the input or the question,
    with the cursor's cell in it; `menu` hangs below the panel. `apart` sets the panel off from what is above it, if
    the screen has the room.
    """

    tail: Sequence[Line]
    panel: Sequence[Line]
    status: Line
    cursor: Cursor | None = None
    todos: Sequence[TodoEntry] = ()
    queue: Sequence[Queued] = ()
    menu: Sequence[Line] = ()
    apart: bool = False


def room_for_panel(size: Size) -> int:
    """Rows that the input or a question may take: all but two, and the status line's."""
    return max(1, size.rows - KEPT_FREE - 1)


def room_for_tail(parts: LiveParts, size: Size) -> int:
    """Rows that are left for the tail."""
    below = len(parts.panel) + len(parts.menu) + bool(parts.queue) + 1
    return _budget(size) - below - bool(_open(parts.todos))


def compose(parts: LiveParts, size: Size, look: Look) -> LiveView:
    """The rows, each one row of the screen, clipped from the top where there is no room."""
    width = size.columns
    below: list[Line] = [*parts.panel, *parts.menu]
    if parts.queue:
        below.append(_queue_row(parts.queue, width, look))
    below.append(parts.status)
    todo = _todo_row(parts.todos, width, look)
    room = room_for_tail(parts, size)
    tail = _tail(parts.tail, room, width, look)
    if len(tail) < room:
        tail = [*tail, EMPTY]
    above = [*tail, *todo]
    usable = max(1, size.rows - KEPT_FREE)
    most = max(_budget(size), min(len(below), usable))
    if parts.apart and len(above) + len(below) < usable and above[-1:] != [EMPTY]:
        above.append(EMPTY)
        most = max(most, len(above) + len(below))
    rows = [*above, *below]
    dropped = max(0, len(rows) - most)
    rows = rows[dropped:]
    cursor = None
    if parts.cursor is not None:
        cursor = Cursor(max(0, parts.cursor.row + len(above) - dropped), min(parts.cursor.column, width - 1))
    return LiveView(tuple(rows), cursor)


def _budget(size: Size) -> int:
    return min(LIVE_ROWS, max(1, size.rows - KEPT_FREE))


def _open(todos: Sequence[TodoEntry]) -> list[TodoEntry]:
    return [todo for todo in todos if todo.status in ("pending", "in_progress")]


def _tail(lines: Sequence[Line], room: int, width: int, look: Look) -> list[Line]:
    """The last rows of what is under way; a row above says how many are hidden, where that is not the only one."""
    if room <= 0:
        return []
    hidden = len(lines) - room
    if hidden > 0 and room == 1:
        return [fit(lines[-1], width)]
    shown = list(lines) if hidden <= 0 else list(lines[len(lines) - room + 1 :])
    rows = [fit(line, width) for line in shown]
    if hidden > 0:
        text = f"{look.glyphs.ellipsis} {hidden + 1} earlier lines"
        rows.insert(0, line_of(cut_to_width(text, width, look.glyphs.ellipsis), DIM))
    return rows


def _todo_row(todos: Sequence[TodoEntry], width: int, look: Look) -> list[Line]:
    """How far the agent's list is, and what it is at; nothing when all is done."""
    open_ = _open(todos)
    if not open_:
        return []
    counted = [todo for todo in todos if todo.status != "cancelled"]
    done = len(counted) - len(open_)
    current = next((todo for todo in open_ if todo.status == "in_progress"), open_[0])
    text = f"  {done}/{len(counted)} done{look.glyphs.dot}now: {current.content}"
    return [line_of(cut_to_width(text, width, look.glyphs.ellipsis), DIM)]


def _queue_row(queue: Sequence[Queued], width: int, look: Look) -> Line:
    """The prompt that comes next, and how to send it now."""
    glyphs = look.glyphs
    more = f" +{len(queue) - 1}" if len(queue) > 1 else ""
    hint = f"{glyphs.dot}Enter on an empty line sends it now"
    text = " ".join(queue[0].text.split())
    room = width - cell_width(f'  queued: ""{more}{hint}')
    if room < 8:
        hint, room = "", width - cell_width(f'  queued: ""{more}')
    shown = f'  queued: "{cut_to_width(text, max(0, room), glyphs.ellipsis)}"{more}{hint}'
    return line_of(cut_to_width(shown, width, glyphs.ellipsis), DIM)
