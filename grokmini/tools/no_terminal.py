"""Programs that wanted a terminal: commands have none, inside of the sandbox and outside."""

from __future__ import annotations

import re
from typing import Final

from grokmini.tools.read_only import only_reads
from grokmini.tools.shell_parse import parse

_WANTED: Final = re.compile(
    r"^(?=.*/dev/tty).*(?:no such device or address|\bENXIO\b|errno 6\b|os error 6\b)"
    r"|could not read (?:username|password) for .*: (?:no such device|terminal prompts disabled)"
    r"|a terminal is required|a password is required$|you must have a tty|no tty present|must be run from a terminal"
    r"|host key verification failed|input device is not a TTY|EOFError: EOF when reading a line"
    r"|^gpg: .*inappropriate ioctl for device|termios\.error: \(25, ",
    re.I | re.M,
)
NOTE: Final = (
    "commands have no terminal, in the sandbox or outside of it, so no program can ask for anything: give the answer "
    "by an option, a variable or standard input, or tell the user which command to run themself"
)


def terminal_notes(output: str, command: str) -> tuple[str, ...]:
    """What to tell the model when a program of the command could not ask anybody; nothing when none wanted to.

    What a command that only reads prints are somebody else's words.
    """
    if not _WANTED.search(output):
        return ()
    return () if only_reads(parse(command)) else (NOTE,)
