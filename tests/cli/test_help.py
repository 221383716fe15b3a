"""Help texts: complete, and no bigger than a screen."""

from __future__ import annotations

import pytest

from grokmini.cli.command_tree import CommandLine, command_lines
from grokmini.cli.help import command_help, full_help, short_help
from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS

LINES = {line.name: line for line in command_lines()}


def fits(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) < 24 and all(len(line) <= 80 for line in lines)


def test_the_short_help_fits_a_screen_and_names_every_command() -> None:
    assert fits(short_help())
    assert all(f"  {name} " in short_help() for name in COMMANDS)


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_summary_fits_its_column(line: CommandLine) -> None:
    assert len(line.summary) <= 26


def test_the_whole_help_names_every_spelling_of_every_option() -> None:
    text = full_help()
    assert all(name in text for option in OPTIONS for name in option.names)
    assert all(len(line) <= 88 for line in text.splitlines())


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_the_help_of_every_command_fits_a_screen(line: CommandLine) -> None:
    text = command_help(line.name, line.summary, line.spec)
    assert fits(text)
    assert text.startswith(f"Usage: grokmini {line.name}")


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_every_command_says_what_it_does_and_shows_an_example_that_begins_with_its_name(
    line: CommandLine,
) -> None:
    assert line.spec.about.endswith(".")
    assert any(f"grokmini {line.name}" in example for example in line.spec.examples)
