"""`grokmini sessions unpin ID…`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    words="ID…",
    completes="sessions",
    examples=("grokmini sessions unpin 019a3c5e",),
    about="Undoes pin: clean-up, where it is set, counts these sessions again.",
)


def run(parsed: Parsed) -> int:
    """Unpin what is named. Raises `UsageError` and `SessionError`."""
    from grokmini.cli.session_pin import set_pinned

    return set_pinned(parsed, False)
