"""The bare `--resume`: choose one of the newest sessions by its number."""

from __future__ import annotations

import os
import sys
import time

from grokmini.cli.report import say
from grokmini.config.paths import find_places
from grokmini.protocol.errors import SessionError, UsageError
from grokmini.store.sessions import SessionInfo, SessionStore

MOST = 10


def pick_session() -> str:
    """Ask on the terminal; the id. Raises `UsageError` without a terminal, `SessionError` without sessions."""
    if not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        raise UsageError("--resume needs a session here", "--resume=ID, or --continue for this folder's latest")
    places = find_places(os.environ)
    found = SessionStore(places.state).list(MOST, None) if places else []
    if not found:
        raise SessionError("there is no session to go on with", "start one: grokmini")
    say("\n".join(row(number, info, time.time()) for number, info in enumerate(found, 1)))
    while True:
        sys.stderr.write("number, or Enter to leave: ")
        sys.stderr.flush()
        typed = sys.stdin.readline().strip()
        if not typed:
            raise UsageError("no session chosen", "--continue goes on with this folder's latest")
        if typed.isascii() and typed.isdigit() and 1 <= int(typed) <= len(found):
            return found[int(typed) - 1].session_id
        say(f"a number from 1 to {len(found)}")


def row(number: int, info: SessionInfo, now: float) -> str:
    """One line of the list; `now` is in seconds since the epoch."""
    age = int(max(0.0, now - info.updated) // 60)
    ago = f"{age} min" if age < 120 else f"{age // 60} h" if age < 2880 else f"{age // 1440} days"
    return f"{number:>3}  {ago:>8} ago  {info.session_id[:8]}  {info.summary.title or '(no prompt yet)'}"
