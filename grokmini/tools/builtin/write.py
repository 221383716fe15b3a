"""write: a whole file, new or replaced."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import msgspec

from grokmini.protocol.tools import ToolKind
from grokmini.tools.contract import Subject, Tool, ToolCallContext, ToolOutput
from grokmini.tools.file_access import binary_error, path_of
from grokmini.tools.file_changes import (
    PlannedWrite,
    apply_write,
    encode_new,
    existing,
    having_seen,
    is_hidden,
    planned_diff,
    require_view,
)
from grokmini.workspace.line_ends import only_crlf
from grokmini.workspace.text_file import decode_text
from grokmini.workspace.workspace import Workspace


class WriteArgs(msgspec.Struct, frozen=True):
    """Arguments of write."""

    file_path: str
    content: str


class Write(Tool[WriteArgs]):
    """Writes through the workspace; a file that exists must have been read as it is now.

    The content is written as given, except that a replaced file keeps its encoding, its byte order mark and,
    when all its lines end so, CRLF.
    """

    id: ClassVar[str] = "write"
    wire_name: ClassVar[str] = "write"
    kind: ClassVar[ToolKind] = ToolKind.WRITE
    args_type: ClassVar[type[msgspec.Struct]] = WriteArgs

    def subject(self, args: WriteArgs, ctx: ToolCallContext) -> Subject:
        """The file."""
        path = path_of(args.file_path, "file_path", ctx)
        return Subject("Write", str(path), f"Write {ctx.resources.get(Workspace).shown(path)}?")

    def projection(self, args: WriteArgs) -> dict[str, str | int]:
        """The path alone."""
        return {"path": args.file_path}

    def writes(self, args: WriteArgs, ctx: ToolCallContext) -> tuple[Path, ...]:
        """The file that is really written."""
        return (ctx.resources.get(Workspace).real(path_of(args.file_path, "file_path", ctx)),)

    async def preview(self, args: WriteArgs, ctx: ToolCallContext) -> str:
        """The diff. Raises `ToolError` when the file cannot be written."""
        return await planned_diff(await _plan(args, ctx))

    async def run(self, args: WriteArgs, ctx: ToolCallContext) -> ToolOutput:
        """Write it. Raises `ToolError`."""
        write = await _plan(args, ctx)
        lines = len(args.content.splitlines())
        verb = "created" if write.before is None else "replaced"
        return await apply_write(
            write, f"{write.shown} was {verb} ({lines} line{'' if lines == 1 else 's'}).", ctx
        )


async def _plan(args: WriteArgs, ctx: ToolCallContext) -> PlannedWrite:
    path = path_of(args.file_path, "file_path", ctx)
    shown = ctx.resources.get(Workspace).shown(path)
    before = await existing(path, ctx)
    if not before:
        return PlannedWrite(path, shown, before, args.content.encode(), "", args.content)
    with having_seen(before):
        if not await is_hidden(path, ctx):
            require_view(path, before, shown, ctx)
        text = decode_text(before)
        if text is None:
            raise binary_error(shown, before, ctx.names)
        content = args.content
        if only_crlf(text.text) and "\r" not in content:
            content = content.replace("\n", "\r\n")
        return PlannedWrite(path, shown, before, encode_new(text, content, shown), text.text, content)
