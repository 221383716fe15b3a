"""Where the live rows are after the terminal changed its size.

Terminals that reflow wrap a row that has become too wide over several rows; the others cut it. What was pushed
out of the screen's top cannot be reached any more, unless a greater height brings it back. Each doubt is decided so
that too little is erased: a stale row stays rather than a finished line goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from grokmini.render.lines import Line, plain
from grokmini.repl.painter import Cursor, Drawn, Size, usable
from grokmini.text.width import cell_width, graphemes


class Reflow(Enum):
    """What a terminal does with rows that are wider than its new width."""

    NONE = "cuts them"
    ALL = "wraps them"
    AND_BACK = "wraps them; a greater height brings rows back from the scrollback"
    BUT_CURSOR_ROW = "wraps them except the one with the cursor"


LATE_SECONDS, PROMPT_SECONDS = 0.3, 0.05
"""For how long a size has to stay: where its news may come late, and where they come at once."""

_XTERM_JS = frozenset({"vscode", "Hyper", "Tabby"})
_WRAPPING_PROGRAMS = frozenset({"tmux", "iTerm.app", "Apple_Terminal", "WezTerm", "ghostty", "rio", "mintty"})
_WRAPPING_TERMS = ("tmux", "alacritty", "foot", "xterm-kitty", "xterm-ghostty", "wezterm", "contour", "konsole")
_WRAPPING_VARIABLES = (
    "KITTY_WINDOW_ID",
    "KONSOLE_VERSION",
    "WT_SESSION",
    "ALACRITTY_WINDOW_ID",
    "WEZTERM_PANE",
    "GHOSTTY_RESOURCES_DIR",
)


def reflow_of(env: Mapping[str, str]) -> Reflow:
    """What the terminal with this environment does. One that is not known counts as cutting: that erases less.

    A multiplexer decides for what runs inside it, whatever it runs in itself.
    """
    term = env.get("TERM", "")
    if env.get("TMUX") or term.startswith("tmux"):
        return Reflow.AND_BACK
    if env.get("ZELLIJ"):
        return Reflow.ALL
    if env.get("STY") or term.startswith("screen") or env.get("XTERM_VERSION"):
        return Reflow.NONE
    if env.get("TERM_PROGRAM") in _XTERM_JS or env.get("TERMINAL_EMULATOR") == "JetBrains-JediTerm":
        return Reflow.BUT_CURSOR_ROW
    if env.get("VTE_VERSION"):
        return Reflow.AND_BACK
    wraps = (
        env.get("TERM_PROGRAM") in _WRAPPING_PROGRAMS
        or term.startswith(_WRAPPING_TERMS)
        or any(env.get(name) for name in _WRAPPING_VARIABLES)
    )
    return Reflow.ALL if wraps else Reflow.NONE


def settling_of(env: Mapping[str, str]) -> float:
    """For how many seconds a size has to stay before rows are drawn for it.

    A drag with the mouse is many sizes. tmux tells of the first at once and of the others up to 0.25 s late: what is
    drawn meanwhile would be drawn for a size that is no more, and could erase a finished line.
    """
    late = env.get("TMUX") or env.get("ZELLIJ") or env.get("TERM", "").startswith(("tmux", "screen"))
    return LATE_SECONDS if late else PROMPT_SECONDS


def after_resize(drawn: Drawn, size: Size, reflow: Reflow) -> Drawn:
    """Where the live rows are now that the terminal has this size: those that are within reach, also again.

    A row of which only a part may be left on the screen is left alone. Where a terminal brings back less than it
    should, the way up ends at the screen's top, and so still below the finished lines.
    """
    size = usable(size)
    if size == drawn.size or not drawn.known:
        return drawn
    above = drawn.above if reflow is Reflow.AND_BACK else ()
    rows = (*above, *drawn.rows)
    row, column = len(above) + drawn.cursor.row, drawn.cursor.column
    heights = [1 if reflow is Reflow.NONE else _height(line, size.columns) for line in rows]
    within = 0
    if reflow in (Reflow.ALL, Reflow.AND_BACK):
        within = _height(rows[row], size.columns, column) - 1
    elif reflow is Reflow.BUT_CURSOR_ROW:
        heights[row] = 1
    gone = _out_of_reach(heights[:row], size.rows - sum(heights[row:]))
    up = min(sum(heights[gone:row]) + within, size.rows - 1)
    return Drawn(rows[gone:], Cursor(up, column), size, above=rows[:gone])


def _out_of_reach(heights: Sequence[int], room: int) -> int:
    """How many of the rows above the cursor's do not fit into the room that there is for them."""
    count = len(heights)
    while count and heights[count - 1] <= room:
        count -= 1
        room -= heights[count]
    return count


def _height(line: Line, columns: int, cells: int | None = None) -> int:
    """Rows that the line (or its beginning up to the cell `cells`) takes when wrapped, at least."""
    text = plain(line).rstrip(" ")
    if cells is None and text.isascii():
        return max(1, -(-len(text) // columns))
    rows, used, seen = 1, 0, 0
    for cluster in graphemes(text):
        width = cell_width(cluster) - ("\ufe0f" in cluster)
        if cells is not None and seen > cells:
            break
        seen += width
        if used + width > columns and used:
            rows, used = rows + 1, 0
        used += width
    return rows
