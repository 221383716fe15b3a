"""search_replace: replace one exact text in a file, byte for byte elsewhere the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, ClassVar, NamedTuple

import msgspec

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.tools import ToolKind
from grokmini.tools.contract import Subject, Tool, ToolCallContext, ToolOutput
from grokmini.tools.edit_errors import refusal_error
from grokmini.tools.file_access import OpenedText, open_text, path_of
from grokmini.tools.file_changes import (
    PlannedWrite,
    apply_write,
    encode_new,
    existing,
    having_seen,
    planned_diff,
    require_view,
)
from grokmini.workspace.edit import Refusal, replace_text
from grokmini.workspace.workspace import Workspace


class ReplaceArgs(msgspec.Struct, frozen=True):
    """Arguments of search_replace."""

    file_path: str
    old_string: Annotated[str, msgspec.Meta(description="exact text; empty creates the file")]
    new_string: str
    replace_all: bool = False


class SearchReplace(Tool[ReplaceArgs]):
    """Edits through the workspace; only files the model has read as they are now."""

    id: ClassVar[str] = "search_replace"
    wire_name: ClassVar[str] = "search_replace"
    kind: ClassVar[ToolKind] = ToolKind.EDIT
    args_type: ClassVar[type[msgspec.Struct]] = ReplaceArgs

    def subject(self, args: ReplaceArgs, ctx: ToolCallContext) -> Subject:
        """The file."""
        path = path_of(args.file_path, "file_path", ctx)
        return Subject("Edit", str(path), f"Edit {ctx.resources.get(Workspace).shown(path)}?")

    def projection(self, args: ReplaceArgs) -> dict[str, str | int]:
        """The path alone."""
        return {"path": args.file_path}

    def writes(self, args: ReplaceArgs, ctx: ToolCallContext) -> tuple[Path, ...]:
        """The file that is really written."""
        return (ctx.resources.get(Workspace).real(path_of(args.file_path, "file_path", ctx)),)

    async def preview(self, args: ReplaceArgs, ctx: ToolCallContext) -> str:
        """The diff. Raises `ToolError` when the edit cannot be made."""
        return await planned_diff((await _plan(args, ctx)).write)

    async def run(self, args: ReplaceArgs, ctx: ToolCallContext) -> ToolOutput:
        """Make the edit. Raises `ToolError`."""
        plan = await _plan(args, ctx)
        return await apply_write(plan.write, plan.done, ctx)


class _Plan(NamedTuple):
    write: PlannedWrite
    done: str


async def _plan(args: ReplaceArgs, ctx: ToolCallContext) -> _Plan:
    path = path_of(args.file_path, "file_path", ctx)
    if not args.old_string:
        return await _plan_new(args, path, ctx)
    opened = await open_text(path, ctx)
    with having_seen(opened.data):
        return await _plan_edit(args, opened, ctx)


async def _plan_edit(args: ReplaceArgs, opened: OpenedText, ctx: ToolCallContext) -> _Plan:
    path = opened.path
    require_view(path, opened.data, opened.shown, ctx)
    text = opened.text
    edited = await asyncio.to_thread(
        replace_text, text.text, args.old_string, args.new_string, replace_all=args.replace_all
    )
    if isinstance(edited, Refusal):
        raise refusal_error(edited, opened.shown, ctx.names)
    after = encode_new(text, edited.text, opened.shown)
    write = PlannedWrite(path, opened.shown, opened.data, after, text.text, edited.text)
    places = len(edited.lines)
    done = f"{opened.shown} was updated" + (f" in {places} places." if places > 1 else ".")
    if edited.reindented:
        done += (
            f" Only the indentation of `old_string` differed at line {edited.lines[0]}; "
            "the file's own indentation was used."
        )
    return _Plan(write, done)


async def _plan_new(args: ReplaceArgs, path: Path, ctx: ToolCallContext) -> _Plan:
    shown = ctx.resources.get(Workspace).shown(path)
    before = await existing(path, ctx)
    if before:
        raise ToolError(
            ToolErrorKind.INVALID_ARGUMENTS,
            f"{shown} exists and is not empty; an empty `old_string` only creates files. "
            "Give the text to replace as `old_string`.",
            seen=before,
        )
    write = PlannedWrite(path, shown, before, args.new_string.encode(), "", args.new_string)
    return _Plan(write, f"{shown} was created.")
