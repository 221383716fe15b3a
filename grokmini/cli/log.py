"""`grokmini log`: a session from its events, rendered as on the screen, streaming, also while it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.protocol.events import EventRecord

FORMATS = ("ansi", "plain", "markdown", "json")

SPEC = CommandSpec(
    options=(
        Option(
            ("--format",),
            "format",
            "ansi, plain, markdown, json",
            kind="value",
            value="FORMAT",
            choices=FORMATS,
        ),
        Option(("--tail",), "tail", "only the last N prompts and what followed", kind="value", value="N"),
        Option(("-f", "--follow"), "follow", "go on while the session runs"),
        Option(
            ("--color", "--colour"),
            "color",
            "auto, always, never",
            kind="value",
            value="WHEN",
            choices=("auto", "always", "never"),
        ),
    ),
    words="[ID]",
    completes="sessions",
    examples=(
        "grokmini log                    # this folder's latest, in $PAGER",
        "grokmini log --follow           # watch it, until Ctrl-C or its end",
        "grokmini log 019a3c5e --format markdown > talk.md",
        "grokmini log --tail 1 --color always | less -R",
        "grokmini log --format json | jq .type",
    ),
    about=(
        "Prints a session whole, as the screen showed it. At a terminal it opens $PAGER (less -R); in a pipe it is "
        "plain text; json gives the events as they are stored. ID may be a title."
    ),
)


def run(parsed: Parsed) -> int:
    """Print the session. Raises `UsageError` and `SessionError`; a reader who leaves ends it quietly."""
    from grokmini.cli.find_session import find_session, latest_session
    from grokmini.cli.folder import working_folder
    from grokmini.cli.log_output import log_output, shown_by
    from grokmini.cli.log_source import follow_session, read_session, stored_lines
    from grokmini.cli.log_views import view_of
    from grokmini.cli.parse import at_least_one
    from grokmini.cli.session_place import session_store
    from grokmini.protocol.errors import UsageError

    if len(parsed.words) > 1:
        raise UsageError("log shows one session", "grokmini log ID; quote a title of several words")
    tail, follow = at_least_one("--tail", parsed.text("tail")), parsed.flag("follow")
    store, cwd = session_store(), working_folder(None)
    info = find_session(store, parsed.words[0], cwd) if parsed.words else latest_session(store, cwd)
    with log_output(paged=not follow) as output:
        if parsed.text("format") == "json" and not follow and not sys.stdout.isatty():
            for line in stored_lines(info.directory, tail):
                output.write_as_is(line)
            return 0
        view = view_of(
            parsed.text("format") or "",
            shown_by(os.environ),
            is_terminal=sys.stdout.isatty(),
            colours=parsed.text("color") or "auto",
            reasoning=_shows_reasoning(cwd),
        )
        events = (
            follow_session(info.directory, tail, output.wait) if follow else read_session(info.directory, tail)
        )
        for record in _readable(events, info.directory):
            output.write(view.apply(record))
        output.write(view.settle())
    return 0


def _readable(events: Iterator[EventRecord], directory: Path) -> Iterator[EventRecord]:
    """The events. Raises `SessionError` when the file that holds them cannot be read."""
    from grokmini.protocol.errors import SessionError

    while True:
        try:
            record = next(events, None)
        except OSError as error:
            raise SessionError(
                f"the events of session {directory.name} cannot be read: {error.strerror} ({error.filename})",
                "check the file; the conversation itself is beside it, in chat_history.jsonl",
            ) from error
        if record is None:
            return
        yield record


def _shows_reasoning(cwd: Path) -> bool:
    from grokmini.config.load import load_settings
    from grokmini.config.paths import find_places

    return load_settings(find_places(os.environ), cwd, os.environ).settings.ui.show_reasoning
