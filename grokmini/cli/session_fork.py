"""`grokmini sessions fork ID`: a copy to go on with, whole or up to a prompt."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed

SPEC = CommandSpec(
    options=(
        Option(
            ("--before",), "before", "leave out prompt N (1, 2, …) and what followed", kind="value", value="N"
        ),
        Option(("--cwd",), "cwd", "file the copy under DIR", kind="value", value="DIR", completes="folders"),
        Option(
            ("-m", "--model"), "model", "go on with this model", kind="value", value="NAME", completes="models"
        ),
    ),
    words="ID",
    completes="sessions",
    examples=("grokmini sessions fork 019a3c5e", "grokmini sessions fork 019a3c5e --before 3"),
    about="Copies a session, also one that runs, and prints the id of the copy. The session stays as it is.",
)


def run(parsed: Parsed) -> int:
    """Make the copy. Raises `UsageError` and `SessionError`."""
    from grokmini.cli.find_session import find_session
    from grokmini.cli.folder import working_folder
    from grokmini.cli.parse import at_least_one
    from grokmini.cli.report import say
    from grokmini.cli.session_place import session_store
    from grokmini.protocol.errors import UsageError
    from grokmini.store.fork import fork_session

    if len(parsed.words) != 1:
        raise UsageError("fork needs one session", "grokmini sessions fork ID")
    before = at_least_one("--before", parsed.text("before"))
    folder = parsed.text("cwd")
    store = session_store()
    info = find_session(store, parsed.words[0], working_folder(None))
    made = fork_session(
        store,
        info.session_id,
        cwd=working_folder(folder) if folder else None,
        model=parsed.text("model"),
        before_prompt=None if before is None else before - 1,
    )
    sys.stdout.write(f"{made.session_id}\n")
    say(f"go on with it: grokmini --resume={made.session_id}")
    return 0
