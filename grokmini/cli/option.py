"""What an option is. Parser, help and shell completions are all made from tuples of these."""

from __future__ import annotations

from typing import Literal, NamedTuple

OptionKind = Literal["flag", "value", "repeat", "maybe"]
"""`flag` takes nothing, `value` one word, `repeat` one word each time it is given, `maybe` one word or none."""


class Option(NamedTuple):
    """One option of a command line.

    `names` are its spellings, the first two shown in the short help. `dest` is the field it fills. `value` is
    the name of its word in help texts. `choices` are the only words it takes, `suggestions` words to complete
    among others; `fixed` is what a flag stores (True unless given). `main` options are in the short help.
    `folder` says that its word is the path of a folder.
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
    folder: bool = False


class CommandSpec(NamedTuple):
    """The command line of one subcommand: its options, its free words and a few examples.

    `words` names the free words as in a usage line; `choices` are the words that may stand there.
    """

    options: tuple[Option, ...] = ()
    words: str = ""
    choices: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


HELP = Option(("-h", "--help"), "help", "show this help", main=True)
