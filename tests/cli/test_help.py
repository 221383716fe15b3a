"""Help texts: complete, and no bigger than a screen."""

from __future__ import annotations

from importlib import import_module

import pytest

from grokmini.cli.help import command_help, full_help, short_help
from grokmini.cli.options import OPTIONS
from grokmini.cli.table import COMMANDS


def fits(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) < 24 and all(len(line) <= 80 for line in lines)


def test_the_short_help_fits_a_screen_and_names_every_command() -> None:
    assert fits(short_help())
    assert all(f"  {name} " in short_help() for name in COMMANDS)


def test_the_whole_help_names_every_spelling_of_every_option() -> None:
    text = full_help()
    assert all(name in text for option in OPTIONS for name in option.names)
    assert all(len(line) <= 88 for line in text.splitlines())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_fits_a_screen(name: str) -> None:
    text = command_help(name, import_module(COMMANDS[name][0]).SPEC)
    assert fits(text)
    assert text.startswith(f"Usage: grokmini {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example_that_begins_with_its_name(name: str) -> None:
    assert any(f"grokmini {name}" in example for example in import_module(COMMANDS[name][0]).SPEC.examples)
