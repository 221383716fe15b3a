"""`grokmini completions SHELL`: a completion script, made from the option tables."""

from __future__ import annotations

import sys

from grokmini.cli.option import CommandSpec
from grokmini.cli.parse import Parsed
from grokmini.cli.shells import SCRIPTS
from grokmini.protocol.errors import UsageError

SPEC = CommandSpec(
    words="SHELL",
    choices=tuple(SCRIPTS),
    examples=(
        "source <(grokmini completions bash)              # in ~/.bashrc",
        "source <(grokmini completions zsh)               # in ~/.zshrc, after compinit",
        "grokmini completions fish | source               # in config.fish",
    ),
)


def run(parsed: Parsed) -> int:
    """Print the script of the shell that was named."""
    if len(parsed.words) != 1:
        raise UsageError("completions needs the name of one shell", "bash, zsh or fish")
    sys.stdout.write(SCRIPTS[parsed.words[0]]())
    return 0
