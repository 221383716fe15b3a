"""list_dir: a folder as a tree."""

from __future__ import annotations

import asyncio
from typing import ClassVar, Final

import msgspec

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.tools import SummaryDisplay, ToolKind
from grokmini.tools.contract import Subject, Tool, ToolCallContext, ToolOutput
from grokmini.tools.file_access import QUOTED_NOTE, file_error, path_of
from grokmini.tools.read_denials import HiddenFiles
from grokmini.tools.time_limit import OutOfTimeError, checker
from grokmini.workspace.tree import draw_tree
from grokmini.workspace.workspace import Workspace

SECONDS: Final = 20.0


class ListArgs(msgspec.Struct, frozen=True):
    """Arguments of list_dir."""

    target_directory: str = "."


class ListDir(Tool[ListArgs]):
    """Lists through the workspace's ignore rules."""

    id: ClassVar[str] = "list_dir"
    wire_name: ClassVar[str] = "list_dir"
    kind: ClassVar[ToolKind] = ToolKind.LIST_DIR
    read_only: ClassVar[bool] = True
    args_type: ClassVar[type[msgspec.Struct]] = ListArgs

    def subject(self, args: ListArgs, ctx: ToolCallContext) -> Subject:
        """The folder."""
        return Subject(
            "Read", str(path_of(args.target_directory, "target_directory", ctx)), "List this folder?"
        )

    def projection(self, args: ListArgs) -> dict[str, str | int]:
        """The folder."""
        return {"directory": args.target_directory}

    async def run(self, args: ListArgs, ctx: ToolCallContext) -> ToolOutput:
        """List it. Raises `ToolError`."""
        path = path_of(args.target_directory, "target_directory", ctx)
        shown = ctx.resources.get(Workspace).shown(path)
        try:
            if path.is_file():
                raise ToolError(
                    ToolErrorKind.INVALID_ARGUMENTS,
                    f"{shown} is a file, not a folder. Read it with {ctx.names.of(ToolKind.READ)}.",
                )
            tree = await asyncio.to_thread(
                draw_tree,
                path,
                shown,
                checker(ctx.cancellation, SECONDS),
                leaves_out=ctx.resources.get(HiddenFiles).now().covers,
                gate=ctx.resources.get(Workspace).gate,
            )
        except OutOfTimeError as error:
            raise ToolError(
                ToolErrorKind.TIMEOUT,
                f"Listing {shown} took longer than {SECONDS:g} s. List a folder below it instead.",
            ) from error
        except OSError as error:
            raise await asyncio.to_thread(file_error, error, path, ctx) from error
        text = tree.text.rstrip("\n")
        if tree.cut:
            text += (
                f"\n[not all is shown; list a folder below, or use {ctx.names.of(ToolKind.LIST)} "
                f"or {ctx.names.of(ToolKind.SEARCH)}]"
            )
        if '- "' in text:
            text += f"\n[{QUOTED_NOTE}]"
        return ToolOutput(
            text, display=SummaryDisplay(f"{tree.entries} entr{'y' if tree.entries == 1 else 'ies'}")
        )
