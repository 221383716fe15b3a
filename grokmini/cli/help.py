"""Help texts, made from the option tables. The short one fits 80x24."""

from __future__ import annotations

import itertools
import textwrap
from collections.abc import Iterable, Sequence

from grokmini import __version__
from grokmini.cli.option import HELP, CommandSpec, Option
from grokmini.cli.options import HEADLESS, MAIN, OPTIONS, OTHER, PERMISSION, SESSION
from grokmini.cli.table import COMMANDS

LEFT = 31
ABOUT_WIDTH = 78
COLUMN = 40
GROUPS = (MAIN, SESSION, PERMISSION, HEADLESS, OTHER)


def short_help() -> str:
    """What most people need, on one screen of 80x24."""
    lines = [
        "Usage: grokmini [OPTIONS] [PROMPT]     work on the code in this folder",
        "       grokmini COMMAND [OPTIONS]",
        "",
        *(_row(option, 2) for option in OPTIONS if option.main),
        "",
        *_two_columns([(name, summary) for name, (_, summary) in COMMANDS.items()]),
    ]
    return "\n".join(lines) + "\n"


def full_help() -> str:
    """Every option with every spelling, in groups, and examples."""
    lines = [
        f"grokmini {__version__}: an AI coding agent that lives in your scrollback",
        "",
        "Usage: grokmini [OPTIONS] [PROMPT]",
        "       grokmini COMMAND [OPTIONS]      grokmini COMMAND --help tells more",
    ]
    for group in GROUPS:
        lines += ["", group, *(line for option in OPTIONS if option.group == group for line in _long(option))]
    lines += ["", "Commands", *(_pair(name, summary, 12) for name, (_, summary) in COMMANDS.items())]
    lines += [
        "",
        "Examples",
        "  grokmini                                 talk about the code in this folder",
        "  grokmini 'why does test_cart fail?'      start with a question",
        "  grokmini -c                              go on where you left off",
        "  grokmini -p 'fix the failing test' --permission-mode accept-edits",
        "  git diff | grokmini -p 'review this' -   join stdin to the prompt",
        "",
        "Models",
        "  export XAI_API_KEY=…          or OPENAI_, ANTHROPIC_, OPENROUTER_API_KEY",
        "  ollama serve                  a local server is found by itself",
        "  GROKMINI_BASE_URL, GROKMINI_MODEL, GROKMINI_API_KEY: any OpenAI-compatible one",
        "  [model.NAME] in config.toml; grokmini doctor tests the one that would be used",
        "",
        "Exit codes: 0 done, 1 error, 2 usage, 3 max turns, 4 permission denied, 5 auth,",
        "6 rate limit, 7 context full, 8 server or network, 9 sandbox, 129/130/143 signals",
    ]
    return "\n".join(lines) + "\n"


def command_help(name: str, summary: str, spec: CommandSpec) -> str:
    """The help of one subcommand."""
    words = f" {spec.words}" if spec.words else ""
    lines = [f"Usage: grokmini {name} [OPTIONS]{words}"]
    if spec.commands:
        lines.append(f"       grokmini {name} COMMAND [OPTIONS]")
    lines += ["", *(_wrapped(spec.about) or [summary]), ""]
    lines += [_row(option, 9) for option in (*spec.options, HELP)]
    if spec.commands:
        lines += ["", *_two_columns([(row.name, row.summary) for row in spec.commands])]
    if spec.examples:
        lines += ["", "Examples", *(f"  {example}" for example in spec.examples)]
    return "\n".join(lines) + "\n"


def _wrapped(about: str) -> list[str]:
    """Its paragraphs; an empty line stands between them."""
    return [line for part in about.split("\n") for line in textwrap.wrap(part, ABOUT_WIDTH) or [""]]


def _two_columns(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Commands with what they are for, read downwards."""
    cells = [_pair(name, summary, 11) for name, summary in pairs]
    rows = (len(cells) + 1) // 2
    return [
        f"{left:<{COLUMN}}{right}".rstrip()
        for left, right in itertools.zip_longest(cells[:rows], cells[rows:], fillvalue="")
    ]


def _spelled(names: Iterable[str], option: Option) -> str:
    text = ", ".join(names)
    if option.kind == "maybe":
        return f"{text} [{option.value}]"
    return f"{text} {option.value}" if option.value else text


def _row(option: Option, most: int) -> str:
    return _pair(_spelled(option.names[:most], option), option.help, LEFT)


def _pair(left: str, right: str, width: int) -> str:
    return f"  {left:<{width}} {right}"


def _long(option: Option) -> list[str]:
    """One option; spellings too long for the left column get a line of their own."""
    left = _spelled(option.names, option)
    if len(left) <= LEFT:
        return [_pair(left, option.help, LEFT)]
    return [f"  {left}", _pair("", option.help, LEFT)]
