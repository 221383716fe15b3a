"""The completion script for fish."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grokmini.cli.command_tree import CommandLine, command_lines
from grokmini.cli.made_by import made_by
from grokmini.cli.option import HELP, Completed, Option
from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS

LOOK_UP = r"""function __grokmini_look_up
  set -l typed (commandline -ct | string replace -r -- '^--[a-z-]+=' '' | string trim -c '"\'')
  set typed (string replace -a '\\' '' -- "$typed")
  command grokmini completions words $argv[1] "$typed" 2>/dev/null
end"""


def fish() -> str:
    """The script."""
    lines = ["# fish completion for grokmini", f"# {made_by()}", LOOK_UP, "complete -c grokmini -f"]
    top = f"not __fish_seen_subcommand_from {' '.join(COMMANDS)}"
    for name, (_, summary) in COMMANDS.items():
        lines.append(f"complete -c grokmini -n '__fish_is_first_arg' -a {name} -d {_quoted(summary)}")
    lines += [_option(top, option) for option in OPTIONS]
    for line in command_lines():
        lines += _command(line)
    return "\n".join(lines) + "\n"


def _command(line: CommandLine) -> Iterator[str]:
    spec = line.spec
    used = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in line.path)
    if spec.commands:
        used += f"; and not __fish_seen_subcommand_from {' '.join(row.name for row in spec.commands)}"
    for option in (*spec.options, HELP):
        yield _option(used, option)
    for row in spec.commands:
        yield f"complete -c grokmini -n '{used}' -a {row.name} -d {_quoted(row.summary)}"
    if words := _words(spec.choices, spec.completes):
        yield f"complete -c grokmini -n '{used}' {'-k ' if spec.completes else ''}-a {words}"


def _option(condition: str, option: Option) -> str:
    parts = [f"complete -c grokmini -n '{condition}'"]
    parts += [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names]
    if words := _words(option.choices or option.suggestions, option.completes):
        parts.append(f"-x {'-k ' if option.completes else ''}-a {words}")
    elif option.kind in ("value", "repeat"):
        parts.append("-x")
    parts.append(f"-d {_quoted(option.help)}")
    return " ".join(parts)


def _words(known: Iterable[str], completes: Completed) -> str:
    if completes == "folders":
        return "'(__fish_complete_directories)'"
    if completes:
        return f"'(__grokmini_look_up {completes})'"
    words = " ".join(known)
    return _quoted(words) if words else ""


def _quoted(text: str) -> str:
    """One single-quoted word, out of texts of our own tables."""
    return "'" + text.replace("'", "’") + "'"
