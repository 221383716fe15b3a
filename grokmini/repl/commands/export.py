"""/export: the session as a file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path

from grokmini.protocol.codec import encode
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import SessionEvent
from grokmini.render.markdown_log import MarkdownLog
from grokmini.repl.commands.result import CommandContext, Say, say
from grokmini.text.paths import real_path

FORCE = "--force"


async def run(argument: str, context: CommandContext) -> Say:
    """Markdown; for a name that ends in .json one JSON list of events, in .jsonl an event a line. `--force` writes
    over a file.

    Raises `SessionError` when it cannot be written.
    """
    words = [word for word in argument.split() if word != FORCE]
    force = len(words) < len(argument.split())
    name = " ".join(words) or f"grokmini-{context.opened.handle.session_id[:8]}.md"
    path = _place(context.state.cwd, name, context.home)
    past, home = context.opened.past, context.home

    def write() -> int:
        pieces = {".json": _json_list, ".jsonl": _json_lines}.get(path.suffix.lower())
        return _write(path, pieces(past()) if pieces else _markdown(past(), home), force)

    size = await asyncio.to_thread(write)
    return say(f"written: {path} ({size:,} bytes)")


def _place(cwd: str, name: str, home: str) -> Path:
    """Where a name leads from the session's folder; `~` is the home folder."""
    return Path(home, name[2:]) if home and name.startswith("~/") else Path(cwd, name)


def _write(path: Path, pieces: Iterable[str], force: bool) -> int:
    """Write a file whole or not at all, and give its size in bytes. One that is there is left alone unless it may
    go; then the new one takes its place in one step.
    """
    size = 0
    real = Path(real_path(path))
    made = real.with_name(f".{real.name[:200]}.{os.getpid()}.tmp") if force else real
    try:
        with made.open("xb") as file:
            try:
                for piece in pieces:
                    size += file.write(piece.encode("utf-8", "replace"))
                file.flush()
                if force:
                    made.replace(real)
            except OSError:
                made.unlink(missing_ok=True)
                raise
    except FileExistsError:
        raise SessionError(f"{path} is there already", "give another name, or /export NAME --force") from None
    except OSError as error:
        raise SessionError(
            f"{path} cannot be written: {error.strerror}", "give the name of a file in a folder that is yours"
        ) from error
    return size


def _markdown(events: Iterable[SessionEvent], home: str) -> Iterable[str]:
    log = MarkdownLog(home=home)
    for event in events:
        yield log.apply(event)
    yield log.settle()


def _json_lines(events: Iterable[SessionEvent]) -> Iterable[str]:
    for event in events:
        yield encode(event).decode() + "\n"


def _json_list(events: Iterable[SessionEvent]) -> Iterable[str]:
    before = "[\n"
    for event in events:
        yield before + encode(event).decode()
        before = ",\n"
    yield "\n]\n" if before != "[\n" else "[]\n"
