"""/export: the session as a file."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from grokmini.files.places import real_path
from grokmini.protocol.codec import encode_event
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import EventRecord
from grokmini.render.markdown_log import MarkdownLog
from grokmini.repl.commands.result import CommandContext, Say, say

FORCE = "--force"


async def run(argument: str, context: CommandContext) -> Say:
    """Markdown; for a name that ends in .json one JSON list of events as `updates.jsonl` holds them, in .jsonl one
    a line. `--force` writes over a file.

    Raises `SessionError` when it cannot be written.
    """
    words = [word for word in argument.split() if word != FORCE]
    force = len(words) < len(argument.split())
    name = " ".join(words) or f"grokmini-{context.opened.handle.session_id[:8]}.md"
    path = _place(context.state.cwd, name, context.home)
    records, home = context.opened.records, context.home

    def write() -> int:
        pieces = {".json": _json_list, ".jsonl": _json_lines}.get(path.suffix.lower())
        return _write(path, pieces(records()) if pieces else _markdown(records(), home), force)

    size = await asyncio.to_thread(write)
    return say(f"written: {path} ({size:,} bytes)")


def _place(cwd: str, name: str, home: str) -> Path:
    """Where a name leads from the session's folder; `~` is the home folder."""
    return Path(home, name[2:]) if home and name.startswith("~/") else Path(cwd, name)


def _write(path: Path, pieces: Iterable[bytes], force: bool) -> int:
    """Write a file whole or not at all, and give its size in bytes: it is made beside its place, however long that
    takes, and put there in one step. One that is there is left alone unless it may go.
    """
    real = Path(real_path(path))
    if not force and os.path.lexists(real):
        raise _is_there(path)
    made = real.with_name(f".{real.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        try:
            with made.open("xb") as file:
                size = sum(file.write(piece) for piece in pieces)
            _put(made, real, force)
        except BaseException:
            made.unlink(missing_ok=True)
            raise
    except FileExistsError:
        raise _is_there(path) from None
    except OSError as error:
        raise SessionError(
            f"{path} cannot be written: {error.strerror}", "give the name of a file in a folder that is yours"
        ) from error
    return size


def _put(made: Path, real: Path, force: bool) -> None:
    """Give a finished file its name. Raises `FileExistsError` when there is one by now that may not go, `OSError`."""
    if force:
        made.replace(real)
        return
    try:
        real.hardlink_to(made)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: looking once more is the best there is
        if os.path.lexists(real):
            raise FileExistsError from None
        made.replace(real)
    else:
        made.unlink()


def _is_there(path: Path) -> SessionError:
    return SessionError(f"{path} is there already", "give another name, or /export NAME --force")


def _markdown(records: Iterable[EventRecord], home: str) -> Iterable[bytes]:
    log = MarkdownLog(home=home)
    for record in records:
        yield log.apply(record.event).encode("utf-8", "replace")
    yield log.settle().encode("utf-8", "replace")


def _json_lines(records: Iterable[EventRecord]) -> Iterable[bytes]:
    for record in records:
        yield encode_event(record) + b"\n"


def _json_list(records: Iterable[EventRecord]) -> Iterable[bytes]:
    before = b"[\n"
    for record in records:
        yield before + encode_event(record)
        before = b",\n"
    yield b"\n]\n" if before != b"[\n" else b"[]\n"
