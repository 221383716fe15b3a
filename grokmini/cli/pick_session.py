"""The bare `--resume`: choose one of the newest sessions by its number, or by words of its title."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from grokmini.cli.report import say, say_as_is
from grokmini.cli.session_rows import row_of
from grokmini.config.paths import find_places
from grokmini.protocol.errors import SessionError, UsageError
from grokmini.render.figures import short_path
from grokmini.render.session_list import table
from grokmini.store.driver_lock import is_driven
from grokmini.store.sessions import SessionInfo, SessionStore

SHOWN = 10
"""Sessions that are listed at once."""

SEARCHED = 1_000
"""Sessions in which words are looked for: the newest."""

_NUMBER_CELLS = 4


def pick_session() -> str | None:
    """Ask on the terminal; the id, None for who leaves it at that.

    Raises `UsageError` without a terminal, `SessionError` without sessions.
    """
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        raise UsageError("--resume needs a session here", "--resume=ID, or --continue for this folder's latest")
    places = find_places(os.environ)
    every = SessionStore(places.state).list(SEARCHED, None) if places else []
    if not every:
        raise SessionError("there is no session to go on with", "start one: grokmini")
    found = every
    while True:
        width = os.get_terminal_size(sys.stderr.fileno()).columns
        say("\n".join(lines_of(found[:SHOWN], width=width, now=time.time())))
        if len(found) > SHOWN:
            say(f"     and {len(found) - SHOWN:,} older")
        say_as_is("number, words, or Enter to leave: ")
        typed = sys.stdin.readline().strip()
        if not typed:
            return None
        if typed.isascii() and typed.isdigit() and 1 <= int(typed) <= min(SHOWN, len(found)):
            return found[int(typed) - 1].session_id
        narrowed = holding(every, typed)
        if not narrowed:
            say(f"no title holds {typed!r}")
        found = narrowed or every


def holding(infos: Sequence[SessionInfo], text: str) -> list[SessionInfo]:
    """The sessions whose title or folder holds every word, in any case."""
    words = text.casefold().split()
    return [
        info
        for info in infos
        if all(word in f"{info.summary.title}\n{info.summary.working_directory}".casefold() for word in words)
    ]


def lines_of(infos: Sequence[SessionInfo], *, width: int, now: float) -> list[str]:
    """The numbered list; `now` is in seconds since the epoch, `width` in cells."""
    home = os.environ.get("HOME", "")
    rows = [
        row_of(
            info,
            now=now,
            live=is_driven(info.directory),
            folder=short_path(str(info.summary.working_directory), home=home),
        )
        for info in infos
    ]
    lines = table(rows, width=width - _NUMBER_CELLS, id_length=0)
    return [f"{number:>2}  {line}" for number, line in enumerate(lines, 1)]
