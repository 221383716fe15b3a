"""`grokmini sessions`: the list, newest first."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from grokmini.cli.option import CommandRow, CommandSpec, Option

if TYPE_CHECKING:
    from pathlib import Path

    from grokmini.cli.parse import Parsed
    from grokmini.store.sessions import SessionInfo

LIMIT = 20

SPEC = CommandSpec(
    options=(
        Option(("-a", "--all"), "all", "those of every folder"),
        Option(("--json",), "json", "one JSON array"),
        Option(
            ("--limit",), "limit", f"list N at most, 0: all ({LIMIT} unless given)", kind="value", value="N"
        ),
    ),
    examples=(
        "grokmini sessions",
        "grokmini sessions --all --limit 50",
        "grokmini sessions search calc test",
        "grokmini sessions delete 019a3c5e",
    ),
    about="Lists this folder's sessions, newest first. A command takes an ID (8 or more characters) or a title.",
    commands=(
        CommandRow("search", "grokmini.cli.session_search", "find what was said"),
        CommandRow("rename", "grokmini.cli.session_rename", "give a title that stays"),
        CommandRow("pin", "grokmini.cli.session_pin", "keep it from any clean-up"),
        CommandRow("unpin", "grokmini.cli.session_unpin", "undo pin"),
        CommandRow("delete", "grokmini.cli.session_delete", "remove for good"),
        CommandRow("fork", "grokmini.cli.session_fork", "copy, whole or in part"),
        CommandRow("repair", "grokmini.cli.session_repair", "make damaged ones usable"),
    ),
)


def run(parsed: Parsed) -> int:
    """Print the list. A folder without sessions is told on stderr and is no error."""
    from grokmini.cli.folder import working_folder
    from grokmini.cli.report import say
    from grokmini.cli.session_place import session_store

    store, cwd = session_store(), working_folder(None)
    limit = limit_of(parsed)
    found = store.list(limit + 1, None if parsed.flag("all") else cwd)
    shown = found[:limit]
    if parsed.flag("json"):
        import msgspec

        described = msgspec.json.encode([describe(info) for info in shown])
        sys.stdout.write(msgspec.json.format(described, indent=2).decode() + "\n")
    else:
        for line in lines_of(shown, every_folder=parsed.flag("all")):
            sys.stdout.write(line + "\n")
        if not found:
            say(
                "no session yet"
                if parsed.flag("all")
                else "no session in this folder; --all lists every folder's"
            )
        elif len(found) > limit:
            say(f"the newest {limit}; --limit N lists more")
    if parsed.flag("all"):
        for error in store.unlisted():
            say(f"! some sessions cannot be listed: {error.strerror} ({error.filename})")
    return 0


def limit_of(parsed: Parsed) -> int:
    """The number behind `--limit`; 0 means all. Raises `UsageError`."""
    from grokmini.protocol.errors import UsageError

    text = parsed.text("limit")
    if text is None:
        return LIMIT
    if not (text.isascii() and text.isdigit()):
        raise UsageError(f"--limit needs a whole number, not {text!r}", "as in --limit 50; 0 means all")
    return int(text) or sys.maxsize - 1


def lines_of(infos: list[SessionInfo], *, every_folder: bool) -> list[str]:
    """The sessions as lines, as wide as the terminal at most."""
    from grokmini.cli.session_place import session_ids
    from grokmini.cli.session_rows import row_of
    from grokmini.render.figures import short_path
    from grokmini.render.session_list import table, unique_length
    from grokmini.store.driver_lock import is_driven

    if not infos:
        return []
    now, home = time.time(), os.environ.get("HOME", "")
    rows = [
        row_of(
            info,
            now=now,
            live=is_driven(info.directory),
            folder=short_path(str(info.summary.working_directory), home=home) if every_folder else "",
        )
        for info in infos
    ]
    id_length = unique_length([row.session_id for row in rows], session_ids())
    return table(rows, width=terminal_width(), id_length=id_length)


def terminal_width() -> int | None:
    """Cells across; None where the output is no terminal, so that nothing is cut."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or None
    except (OSError, ValueError):
        return None


def describe(info: SessionInfo) -> dict[str, Any]:
    """A session as JSON tells of it."""
    from grokmini.store.driver_lock import is_driven

    summary = info.summary
    return {
        "session_id": info.session_id,
        "title": summary.title,
        "title_source": summary.title_source,
        "cwd": summary.cwd,
        "current_cwd": str(summary.working_directory),
        "branch": summary.branch,
        "model": summary.model,
        "created_at": summary.created_at,
        "updated_at": info.updated,
        "prompts": summary.turns,
        "tokens": summary.tokens,
        "last_prompt": summary.last_prompt,
        "parent_session_id": summary.parent_session_id,
        "live": is_driven(info.directory),
        "pinned": summary.pinned,
        "directory": _text(info.directory),
    }


def _text(path: Path) -> str:
    from grokmini.protocol.codec import join_surrogates

    return join_surrogates(str(path))
