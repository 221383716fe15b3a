"""`grokmini sessions delete ID…`: gone for good, after a yes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.store.sessions import SessionInfo

SPEC = CommandSpec(
    options=(Option(("-y", "--yes"), "yes", "do not ask"),),
    words="ID…",
    completes="sessions",
    examples=("grokmini sessions delete 019a3c5e", "grokmini sessions delete --yes 019a3c5e 019a3c60"),
    about=(
        "Says what would go, asks, and removes sessions with all that belongs to them. One that runs is left alone. "
        "Without a terminal it needs --yes."
    ),
)


def run(parsed: Parsed) -> int:
    """Delete what is named. Exit 1 when something is left. Raises `UsageError` and `SessionError`."""
    from grokmini.cli.report import complain, say
    from grokmini.cli.session_place import named_sessions
    from grokmini.protocol.errors import ExitCode, SessionError
    from grokmini.store.manage import delete

    infos = named_sessions(parsed.words)
    say("\n".join(what_goes(info, time.time()) for info in infos))
    if not parsed.flag("yes") and not agreed(len(infos), sys.stdin.readline):
        say("nothing was deleted")
        return ExitCode.ERROR
    failed = False
    for info in infos:
        try:
            delete(info.directory)
        except SessionError as error:
            complain(error)
            failed = True
        else:
            sys.stdout.write(f"deleted: {info.session_id}\n")
    return ExitCode.ERROR if failed else ExitCode.OK


def what_goes(info: SessionInfo, now: float) -> str:
    """One session in a line: what it is called, how much it holds, how old it is."""
    from grokmini.render.figures import ago, plural
    from grokmini.render.session_list import NO_TITLE

    summary = info.summary
    facts = [plural(summary.turns, "prompt"), size_text(size_of(info.directory)), ago(now - info.updated)]
    facts += ["pinned"] if summary.pinned else []
    return f"  {info.session_id}  {summary.title or NO_TITLE} ({', '.join(facts)})"


def agreed(count: int, read_line: Callable[[], str]) -> bool:
    """Ask for a yes. Raises `UsageError` when nobody is there to be asked."""
    from grokmini.protocol.errors import UsageError

    if not (sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()):
        raise UsageError("nobody is here to say yes", "--yes deletes without asking")
    what = "this session" if count == 1 else f"these {count} sessions"
    sys.stderr.write(f"Delete {what} for good? y/N ")
    sys.stderr.flush()
    return read_line().strip().casefold() in ("y", "yes")


def size_of(directory: Path) -> int:
    """Bytes in all files below; what goes away meanwhile counts nothing."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            try:
                total += Path(folder, name).lstat().st_size
            except OSError:
                continue
    return total


def size_text(size: int) -> str:
    """`512 bytes`, `3.1 kB`, `48 MB`."""
    for unit, name in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")):
        if size >= unit:
            value = size / unit
            return f"{value:.1f} {name}" if value < 9.95 else f"{value:.0f} {name}"
    return f"{size} bytes"
