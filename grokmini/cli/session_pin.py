"""`grokmini sessions pin ID…`, and `unpin`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    words="ID…",
    completes="sessions",
    examples=("grokmini sessions pin 019a3c5e", "grokmini sessions pin 'the flaky login test'"),
    about="Keeps sessions, and what they made in caches, whatever clean-up is set. `unpin` undoes it.",
)


def run(parsed: Parsed) -> int:
    """Pin what is named. Raises `UsageError` and `SessionError`."""
    return set_pinned(parsed, True)


def set_pinned(parsed: Parsed, pinned: bool) -> int:
    """Pin or unpin every session that is named; all are found before the first is changed."""
    from grokmini.cli.session_place import named_sessions
    from grokmini.store.manage import pin
    from grokmini.text.sanitise import sanitise

    for info in named_sessions(parsed.words):
        pin(info.directory, pinned)
        said = f"{'pinned' if pinned else 'no longer pinned'}: {info.session_id}  {info.summary.title}"
        sys.stdout.write(sanitise(said, newlines=False) + "\n")
    return 0
