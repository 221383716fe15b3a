"""`grokmini sessions rename ID TITLE`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    words="ID TITLE",
    completes="sessions",
    examples=("grokmini sessions rename 019a3c5e 'the flaky login test'",),
    about="Gives a session a title that no later one replaces; an empty one ('') gives it back to titles that are "
    "made. ID may be its title so far.",
)


def run(parsed: Parsed) -> int:
    """Rename one session, whether it runs or not. Raises `UsageError` and `SessionError`."""
    from grokmini.cli.find_session import find_session
    from grokmini.cli.folder import working_folder
    from grokmini.cli.session_place import session_store
    from grokmini.protocol.errors import UsageError
    from grokmini.store.manage import rename
    from grokmini.text.sanitise import sanitise

    text, title = (*parsed.words[:1], ""), " ".join(" ".join(parsed.words[1:]).split())
    if len(parsed.words) < 2:
        raise UsageError("rename needs a session and its new title", "grokmini sessions rename ID 'new title'")
    info = find_session(session_store(), text[0], working_folder(None))
    kept = rename(info.directory, title)
    sys.stdout.write(sanitise(f"{info.session_id} is now called {kept}", newlines=False) + "\n")
    return 0
