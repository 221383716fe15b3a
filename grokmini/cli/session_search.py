"""`grokmini sessions search WORDS`: where something was said."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec, Option
from grokmini.cli.sessions import LIMIT

if TYPE_CHECKING:
    from grokmini.cli.parse import Parsed
    from grokmini.store.search_index import Hit

SPEC = CommandSpec(
    options=(
        Option(("--here",), "here", "only sessions of this folder"),
        Option(("--json",), "json", "one JSON array"),
        Option(
            ("--limit",), "limit", f"N hits at most, 0: all ({LIMIT} unless given)", kind="value", value="N"
        ),
    ),
    words="WORDS",
    examples=("grokmini sessions search calc test", "grokmini sessions search --here 'flaky login'"),
    about="Finds the words in prompts, replies and names of tools, in the sessions of every folder. The best first.",
)


MOST = 100_000
"""Hits at most, whatever is asked for."""

QUIET_SECONDS = 1.0
"""How long the index may be brought up to date before it is told."""


def run(parsed: Parsed) -> int:
    """Bring the index up to date and print what fits. Exit 1 when nothing does, as grep.

    Raises `UsageError`, and `SessionError` when the index cannot be used.
    """
    from grokmini.cli.report import say
    from grokmini.protocol.errors import UsageError

    words = " ".join(parsed.words)
    if not words.strip():
        raise UsageError("there are no words to search for", "grokmini sessions search WORDS")
    hits = _search(words, parsed)
    if parsed.flag("json"):
        import msgspec

        rows = msgspec.json.encode([_describe(hit) for hit in hits])
        sys.stdout.write(msgspec.json.format(rows, indent=2).decode() + "\n")
    elif hits:
        sys.stdout.write("".join(f"{line}\n" for line in lines_of(hits, time.time())))
    else:
        say(f"nothing fits {words!r}")
    return 0 if hits else 1


def _search(words: str, parsed: Parsed) -> list[Hit]:
    from grokmini.cli.folder import working_folder
    from grokmini.cli.report import say
    from grokmini.cli.search_place import search_index
    from grokmini.cli.session_place import places
    from grokmini.cli.sessions import limit_of

    limit = min(limit_of(parsed), MOST)
    cwd = working_folder(None) if parsed.flag("here") else None
    with search_index(places()) as index:
        left = index.refresh(time.monotonic() + QUIET_SECONDS)
        if left:
            say(f"reading {left:,} sessions that are new to the index; Ctrl-C leaves the rest for next time")
            index.refresh(None)
        return index.search(words, limit=limit, cwd=cwd)


def lines_of(hits: Sequence[Hit], now: float) -> list[str]:
    """Each hit in two lines: which session and when, and the words with what is around them."""
    from grokmini.cli.session_place import session_ids
    from grokmini.cli.sessions import terminal_width
    from grokmini.render.figures import ago
    from grokmini.render.session_list import NO_TITLE, unique_length
    from grokmini.text.sanitise import sanitise
    from grokmini.text.width import cut_to_width

    shown: list[str] = []
    length = unique_length([hit.session_id for hit in hits], session_ids())
    for hit in hits:
        where = "" if hit.kind == "title" else f"prompt {hit.prompt_index + 1}"
        words = (hit.session_id[:length], ago(now - hit.updated), where, hit.title or NO_TITLE)
        shown += ["  ".join(filter(None, words)), f"    {hit.snippet}"]
    width = terminal_width()
    safe = [sanitise(text, newlines=False) for text in shown]
    return safe if width is None else [cut_to_width(text, width) for text in safe]


def _describe(hit: Hit) -> dict[str, object]:
    return {
        "session_id": hit.session_id,
        "title": hit.title,
        "updated_at": hit.updated,
        "prompt_index": hit.prompt_index,
        "kind": hit.kind,
        "snippet": hit.snippet,
    }
