"""Every command line there is: the program's own, its commands' and their commands'."""

from __future__ import annotations

from importlib import import_module
from typing import NamedTuple

from grokmini.cli.option import HELP, CommandSpec, Option
from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS


class CommandLine(NamedTuple):
    """One command: the words that call it, what it is for, and what it takes."""

    path: tuple[str, ...]
    summary: str
    spec: CommandSpec

    @property
    def name(self) -> str:
        """The words that call it."""
        return " ".join(self.path)

    @property
    def options(self) -> tuple[Option, ...]:
        """Its options with the one that every command has."""
        return (*self.spec.options, HELP)


def command_lines() -> list[CommandLine]:
    """All commands in the order of the tables, each followed by its own."""
    lines: list[CommandLine] = []
    for name, (module, summary) in COMMANDS.items():
        spec: CommandSpec = import_module(module).SPEC
        lines.append(CommandLine((name,), summary, spec))
        lines += [
            CommandLine((name, row.name), row.summary, import_module(row.module).SPEC) for row in spec.commands
        ]
    return lines


def every_option() -> list[Option]:
    """The options of all command lines, each set of names once."""
    found: dict[tuple[str, ...], Option] = {}
    for option in (*OPTIONS, *(option for line in command_lines() for option in line.options)):
        found.setdefault(option.names, option)
    return list(found.values())
