"""A word alone on the command line that means a command: told, before a model is asked and paid for it."""

from __future__ import annotations

from collections.abc import Sequence

from grokmini.cli.table import COMMANDS
from grokmini.protocol.errors import UsageError
from grokmini.text.nearest import nearest, slips

_KEYS = "keys are in variables, as XAI_API_KEY: grokmini models names them, grokmini doctor tests one"
_AGAIN = "install it again as it was installed, as in pipx upgrade grokmini"

ELSEWHERE = {
    "help": "grokmini --help",
    "usage": "grokmini --help",
    "version": "grokmini --version",
    "login": _KEYS,
    "logout": _KEYS,
    "auth": _KEYS,
    "init": "nothing has to be set up; for an AGENTS.md: grokmini 'write an AGENTS.md for this project'",
    "setup": "nothing has to be set up: grokmini models lists what is there, grokmini doctor tests it",
    "update": _AGAIN,
    "upgrade": _AGAIN,
    "exec": "grokmini -p 'PROMPT'",
    "resume": "grokmini --resume, or grokmini --continue for this folder's latest",
}
"""What other programs have as commands: what does it here."""

_SHORT, _LONG = 4, 8


def check_first_word(words: Sequence[str]) -> None:
    """Raise `UsageError` for free words of which the first is nearly a command, or what other programs call one.

    `words` are those in front of a `--`. A prompt in quotes has blanks; a word that is like no command is one too.
    """
    if not words or words[0] != words[0].strip() or " " in words[0]:
        return
    word = words[0].casefold()
    instead = ELSEWHERE.get(word, "")
    if word == "help" and words[1:] and words[1] in COMMANDS:
        instead = f"grokmini {words[1]} --help"
    meant = _meant(word)
    if not instead and not meant:
        return
    advice = instead if instead else f"grokmini {meant}"
    asked = f"did you mean {advice}?" if advice.startswith("grokmini ") else advice
    prompt = f"grokmini -- {words[0]}" if len(words) == 1 else f"grokmini '{' '.join(words)}'"
    raise UsageError(f"there is no command {words[0]!r}", f"{asked}\nas a prompt: {prompt}")


def _meant(word: str) -> str:
    """The command that is one slip away, two in a long word; a short one only with a letter more, less or swapped."""
    for name in nearest(word, COMMANDS):
        allowed = 2 if min(len(word), len(name)) >= _LONG else 1
        kept = len(name) > _SHORT or len(word) != len(name) or sorted(word) == sorted(name)
        if kept and word[0] == name[0] and slips(word, name) <= allowed:
            return name
    return ""
