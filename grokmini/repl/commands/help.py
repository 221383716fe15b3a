"""/help: what can be typed."""

from __future__ import annotations

from grokmini.render.lines import EMPTY, Line, Span
from grokmini.render.look import BOLD
from grokmini.render.spans import hanging, wrap_spans
from grokmini.repl.commands.result import CommandContext, Say, say_lines
from grokmini.repl.commands.table import COMMANDS, CommandRow

NARROW = 60
"""Columns below which there is no room for two columns of words."""

_KEYS = (
    ("Enter", "sends; while a turn runs it queues; on an empty line it sends the top queued prompt now"),
    ("Ctrl-J", "newline; also Alt-Enter, Shift-Enter, backslash Enter"),
    ("Up, Down", "what was sent before; Up takes the newest queued prompt back"),
    ("Ctrl-R", "search in what was sent before; Ctrl-S the other way"),
    ("Tab", "completes /commands and @paths; opens a folded paste"),
    ("Shift-Tab", "next permission mode"),
    ("Ctrl-C", "stops the turn; clears the draft when none runs"),
    ("Esc", "closes what is open, else stops the turn"),
    ("Ctrl-V", "pastes the clipboard: text, or an image (as a dropped file)"),
    ("Ctrl-G", "the draft in $VISUAL or $EDITOR"),
    ("Ctrl-O", "the whole session in the pager"),
    ("PgUp, PgDn", "scroll a long question; d there shows the whole diff"),
    ("Ctrl-A, Ctrl-E", "to the start, to the end of the line"),
    ("Ctrl-U, Ctrl-W", "delete the line, the word; Ctrl-Y brings it back"),
    ("Ctrl-_", "undoes editing"),
    ("Ctrl-L", "draws the prompt anew"),
    ("Ctrl-Z", "suspends"),
    ("Ctrl-D", "leaves, on an empty line"),
    ("!command", "runs a shell command and shows it to the model"),
)


async def run(argument: str, context: CommandContext) -> Say:
    """Every command and key, one a line if it fits."""
    named = [(f"/{row.name} {row.arguments}".rstrip(), _meaning(row)) for row in COMMANDS]
    left = max(len(head) for head, _ in (*named, *_KEYS)) + 2
    return say_lines(
        [
            *(line for row in named for line in _row(*row, left, context.width)),
            EMPTY,
            *(line for row in _KEYS for line in _row(*row, left, context.width)),
        ]
    )


def _meaning(row: CommandRow) -> str:
    also = f" (also {', '.join('/' + alias for alias in row.aliases)})" if row.aliases else ""
    return row.summary + also


def _row(head: str, meaning: str, left: int, width: int) -> list[Line]:
    """What it is called and what it does: side by side, or below each other where that is too narrow."""
    text = (Span(meaning),)
    if width >= NARROW:
        return hanging(lambda inner: wrap_spans(text, inner), Span(head.ljust(left), BOLD), width)
    lead = Span("  ")
    return [
        *wrap_spans((Span(head, BOLD),), width),
        *hanging(lambda inner: wrap_spans(text, inner), lead, width),
    ]
