"""What an option is. Parser, help and shell completions are all made from tuples of these."""

from __future__ import annotations

from typing import Literal, NamedTuple

OptionKind = Literal["flag", "value", "repeat", "maybe"]
"""`flag` takes nothing, `value` one word, `repeat` one word each time it is given, `maybe` one word or none."""

Completed = Literal["", "folders", "models", "sessions", "live-sessions"]
"""What a shell looks up to complete a word, beside the words that a table names."""


class Option(NamedTuple):
    """One option of a command line.

    `names` are its spellings, the first two shown in the short help. `dest` is the field it fills. `value` is
    the name of its word in help texts. `choices` are the only words it takes, `suggestions` words to complete
    among others; `fixed` is what a flag stores (True unless given). `main` options are in the short help.
    `completes` is what a shell looks up for its word. `about` is what the manual says beyond `help`.
    """

    names: tuple[str, ...]
    dest: str
    help: str
    group: str = "Options"
    kind: OptionKind = "flag"
    value: str = ""
    choices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    fixed: str | bool = True
    main: bool = False
    completes: Completed = ""
    about: str = ""


class CommandRow(NamedTuple):
    """A command of a command: `module` holds its `SPEC` and `run`."""

    name: str
    module: str
    summary: str


class CommandSpec(NamedTuple):
    """The command line of one subcommand: its options, its free words and a few examples.

    `words` names the free words as in a usage line; `choices` are the words that may stand there, `completes`
    what a shell looks up for them. `about` is a sentence or two on what it does, or paragraphs of such;
    `commands` are its own commands. `runs`: the first free word begins a command line, whose options are not ours.
    """

    options: tuple[Option, ...] = ()
    words: str = ""
    choices: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    about: str = ""
    completes: Completed = ""
    commands: tuple[CommandRow, ...] = ()
    runs: bool = False


HELP = Option(("-h", "--help"), "help", "show this help", main=True)
