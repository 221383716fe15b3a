"""`grokmini sessions repair [ID]`: what a crash or a damaged disk left is made usable."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from pathlib import Path

    from grokmini.cli.parse import Parsed
    from grokmini.store.repair import Repaired

SPEC = CommandSpec(
    options=(Option(("-a", "--all"), "all", "those of every folder"),),
    words="[ID]",
    completes="sessions",
    examples=("grokmini sessions repair", "grokmini sessions repair 019a3c5e-71aa-7c3e-8c11-9a2b3c4d5e6f"),
    about=(
        "Rebuilds summaries that are missing or damaged from the history, so that the sessions are listed again. "
        "Without ID it looks at all of this folder. Nothing is thrown away."
    ),
)


def run(parsed: Parsed) -> int:
    """Repair what is named, or everything here. Exit 1 when something could not be. Raises `UsageError`."""
    from grokmini.cli.report import complain
    from grokmini.protocol.errors import ExitCode, SessionError
    from grokmini.store.repair import repair_session

    failed = False
    directories = _wanted(parsed)
    for directory in directories:
        try:
            said = what_was_done(repair_session(directory))
        except SessionError as error:
            complain(error)
            failed = True
            continue
        if said or parsed.words:
            sys.stdout.write(f"{directory.name}  {said or 'nothing to repair'}\n")
    if not parsed.words:
        sys.stdout.write(f"{len(directories)} looked at\n")
    return ExitCode.ERROR if failed else ExitCode.OK


def _wanted(parsed: Parsed) -> list[Path]:
    """The directories to look at; one without a summary has no title and is found by its id alone."""
    from grokmini.cli.find_session import find_session
    from grokmini.cli.folder import working_folder
    from grokmini.cli.session_place import session_directories, session_store
    from grokmini.protocol.errors import UsageError
    from grokmini.protocol.ids import is_session_prefix

    if len(parsed.words) > 1:
        raise UsageError(
            "repair takes one session, or none for all of this folder", "grokmini sessions repair ID"
        )
    if not parsed.words:
        return sorted(session_directories(None if parsed.flag("all") else working_folder(None)))
    text = parsed.words[0]
    found = [path for path in session_directories() if is_session_prefix(text) and path.name.startswith(text)]
    return found if len(found) == 1 else [find_session(session_store(), text, working_folder(None)).directory]


def what_was_done(repaired: Repaired) -> str:
    """What was found and put right, in words; empty for nothing."""
    from grokmini.render.figures import plural

    done = ["summary rebuilt"] if repaired.summary_rebuilt else []
    if repaired.lines_skipped:
        done.append(f"{plural(repaired.lines_skipped, 'line')} cannot be read, the rest is used")
    if repaired.prompts_restored:
        done.append(f"{plural(repaired.prompts_restored, 'prompt')} back from the record of events")
    return ", ".join(done)
