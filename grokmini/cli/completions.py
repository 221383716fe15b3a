"""`grokmini completions SHELL`: a completion script, made from the option tables."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandRow, CommandSpec
from grokmini.protocol.errors import UsageError

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SHELLS = ("bash", "zsh", "fish")

SPEC = CommandSpec(
    words="SHELL",
    choices=SHELLS,
    examples=(
        "grokmini completions install                     # for good",
        "source <(grokmini completions bash)              # in ~/.bashrc",
        "source <(grokmini completions zsh)               # in ~/.zshrc, after compinit",
        "grokmini completions fish | source               # in config.fish",
    ),
    about="Prints a completion script: options, commands, sessions by id or title, models.",
    commands=(
        CommandRow("install", "grokmini.cli.install", "scripts and manual pages"),
        CommandRow("words", "grokmini.cli.completion_words", "what the scripts look up"),
    ),
)


def run(parsed: Parsed) -> int:
    """Print the script of the shell that was named."""
    from grokmini.cli.shells import SCRIPTS

    if len(parsed.words) != 1:
        raise UsageError("completions needs the name of one shell", "bash, zsh or fish, or install")
    sys.stdout.write(SCRIPTS[parsed.words[0]]())
    return 0
