"""/help: what can be typed."""

from __future__ import annotations

from grokmini.render.lines import Line, Span, line_of
from grokmini.render.look import BOLD
from grokmini.repl.commands.result import CommandContext, Say, say_lines
from grokmini.repl.commands.table import COMMANDS

_KEYS = (
    ("Enter", "sends; while a turn runs it queues; on an empty line it sends"),
    ("", "the top queued prompt now"),
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
    """Every command and key, one a line."""
    heads = [f"/{row.name} {row.arguments}".rstrip() for row in COMMANDS]
    width = max(len(head) for head in (*heads, *(key for key, _ in _KEYS))) + 2
    lines: list[Line] = []
    for head, row in zip(heads, COMMANDS, strict=True):
        also = f" (also {', '.join('/' + alias for alias in row.aliases)})" if row.aliases else ""
        lines.append(Line((Span(head.ljust(width), BOLD), Span(row.summary + also))))
    lines.append(line_of(""))
    lines += [Line((Span(key.ljust(width), BOLD), Span(meaning))) for key, meaning in _KEYS]
    return say_lines(lines)
