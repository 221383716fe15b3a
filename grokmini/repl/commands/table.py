"""The slash commands, one row each. A new one is a file beside this one and a row here.

`target` is imported when the command is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, cast

from grokmini.text.nearest import nearest

if TYPE_CHECKING:
    from grokmini.repl.commands.result import Run


class CommandRow(NamedTuple):
    """A command's name and other names, its arguments and what it does in a few words."""

    name: str
    aliases: tuple[str, ...]
    arguments: str
    summary: str
    target: str


COMMANDS: tuple[CommandRow, ...] = (
    CommandRow("help", (), "", "what can be typed here", "help"),
    CommandRow("model", ("m",), "[name]", "show the models or choose one", "model"),
    CommandRow("mode", (), "[name]", "show or set what runs without asking", "mode"),
    CommandRow("sandbox", (), "[name]", "show or change what confines commands", "sandbox"),
    CommandRow("new", ("clear",), "", "go on in a fresh session", "new"),
    CommandRow("resume", (), "[name]", "go on with a stored session", "resume"),
    CommandRow("fork", (), "[n or name]", "go on in a copy, whole or up to prompt n", "fork"),
    CommandRow("follow", (), "[name]", "watch a session of another window", "follow"),
    CommandRow("takeover", (), "", "drive the session that you watched", "takeover"),
    CommandRow("search", (), "words", "where something was said, in every session", "search"),
    CommandRow("rename", ("title",), "title", "what this session is called", "rename"),
    CommandRow("pin", (), "[name]", "keep a session from every clean-up", "pin"),
    CommandRow("delete", (), "name", "remove another session for good", "delete"),
    CommandRow("session-info", ("status", "info"), "", "facts about this session", "session_info"),
    CommandRow("usage", ("cost",), "", "tokens and cost so far", "usage"),
    CommandRow("context", (), "", "what fills the model's window", "context"),
    CommandRow("copy", (), "[n]", "the last reply, or the nth last, to the clipboard", "copy"),
    CommandRow("export", (), "[file]", "this session as Markdown, or as .json", "export"),
    CommandRow("diff", (), "", "what this session changed in files", "diff"),
    CommandRow("transcript", (), "", "the whole session in the pager (Ctrl-O)", "transcript"),
    CommandRow("expand", (), "[call]", "a call's output that was cut, whole", "expand"),
    CommandRow("repaint", (), "", "print the last turns again", "repaint"),
    CommandRow("queue", (), "[clear]", "prompts that wait for the turn to end", "queue"),
    CommandRow("cd", (), "path", "work in another folder", "cd"),
    CommandRow("quit", ("exit",), "", "leave", "quit"),
)


def find(name: str) -> CommandRow | None:
    """The command of that name or alias, without its slash, in any case."""
    wanted = name.casefold()
    for row in COMMANDS:
        if wanted == row.name or wanted in row.aliases:
            return row
    return None


def names() -> tuple[str, ...]:
    """Every name that can be completed."""
    return tuple(row.name for row in COMMANDS)


def unknown(name: str) -> str:
    """The sentence for a name that is no command."""
    every = [known for row in COMMANDS for known in (row.name, *row.aliases)]
    close = nearest(name, every, limit=1)
    advice = f"did you mean /{close[0]}?" if close else "/help lists them"
    return f"there is no command /{name}: {advice}"


def load(row: CommandRow) -> Run:
    """The function that runs the command."""
    import importlib

    module = importlib.import_module(f"grokmini.repl.commands.{row.target}")
    return cast("Run", module.run)
