"""Writing a file for a tool: only what the model knows, told with a diff."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.tools import DiffDisplay, ToolKind
from grokmini.sandbox.file_guard import FileRefusedError
from grokmini.text.diff import count_changes, unified_diff
from grokmini.tools.contract import ToolCallContext, ToolOutput
from grokmini.tools.file_access import changed_text, file_error
from grokmini.workspace.text_file import TextFile
from grokmini.workspace.workspace import Workspace


class PlannedWrite(NamedTuple):
    """A change worked out but not made. `before` is None for a file that does not exist."""

    path: Path
    shown: str
    before: bytes | None
    after: bytes
    before_text: str
    after_text: str


async def existing(path: Path, ctx: ToolCallContext) -> bytes | None:
    """What the file holds, None when there is none. Raises `ToolError`."""
    try:
        return await asyncio.to_thread(ctx.resources.get(Workspace).read_if_there, path, ctx.approved)
    except OSError as error:
        raise await asyncio.to_thread(file_error, error, path, ctx) from error


async def is_hidden(path: Path, ctx: ToolCallContext) -> bool:
    """Whether a person let this call write a file that the sandbox does not let be read: the model cannot know it."""
    workspace = ctx.resources.get(Workspace)
    if workspace.real(path) not in ctx.approved:
        return False
    try:
        await asyncio.to_thread(workspace.check_readable, path)
    except FileRefusedError:
        return True
    except OSError:
        return False
    return False


@contextmanager
def having_seen(data: bytes | None) -> Iterator[None]:
    """Whatever error is raised inside carries the content that the edit looked at."""
    try:
        yield
    except ToolError as error:
        error.seen = data
        raise


def require_view(path: Path, data: bytes, shown: str, ctx: ToolCallContext) -> None:
    """Raise `ToolError` unless the model has seen the file as it is now."""
    workspace = ctx.resources.get(Workspace)
    if not workspace.read_before_edit:
        return
    state = workspace.views.state(workspace.real(path), data)
    if state == "changed":
        raise ToolError(ToolErrorKind.CONFLICT, changed_text(shown, ctx.names))
    if state == "unread":
        raise ToolError(
            ToolErrorKind.REQUIRES_OTHER_TOOL,
            f"{shown} was not read since this session was started or resumed, so nothing was written. "
            f"Read it with {ctx.names.of(ToolKind.READ)} first, then make the edit.",
        )


def encode_new(file: TextFile, text: str, shown: str) -> bytes:
    """The new text in the file's own encoding. Raises `ToolError` when a character has no place in it."""
    try:
        return file.encode(text)
    except UnicodeEncodeError as error:
        char = text[error.start]
        raise ToolError(
            ToolErrorKind.UNSUPPORTED,
            f"{shown} is written in {file.label}, which has no character {char!r} (U+{ord(char):04X}). "
            "Nothing was written. Use another character, or convert the file to UTF-8 first.",
        ) from error


async def planned_diff(write: PlannedWrite) -> str:
    """The change as a unified diff."""
    return await asyncio.to_thread(unified_diff, write.before_text, write.after_text, write.shown)


async def apply_write(write: PlannedWrite, done: str, ctx: ToolCallContext) -> ToolOutput:
    """Make the change. Raises `ToolError`, then nothing is different."""
    diff = await planned_diff(write)
    ctx.cancellation.check()
    workspace = ctx.resources.get(Workspace)
    with having_seen(write.before):
        try:
            await asyncio.to_thread(
                workspace.replace, write.path, write.before, write.after, ctx.prompt_index, ctx.approved
            )
        except OSError as error:
            raise await asyncio.to_thread(file_error, error, write.path, ctx) from error
    added, removed = count_changes(diff)
    return ToolOutput(
        output=diff or done,
        prompt_text=done,
        display=DiffDisplay(write.shown, diff, added, removed),
    )
