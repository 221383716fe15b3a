"""glob: files by a pattern, newest first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

import msgspec

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.tools import SummaryDisplay, ToolKind
from grokmini.tools.contract import Subject, Tool, ToolCallContext, ToolOutput
from grokmini.tools.file_access import QUOTED_NOTE, file_error, path_of
from grokmini.tools.read_denials import HiddenFiles
from grokmini.tools.time_limit import OutOfTimeError, checker
from grokmini.workspace.globs import Glob
from grokmini.workspace.walk import LeavesOut, walk_files
from grokmini.workspace.workspace import Workspace

LIMIT: Final = 100
SECONDS: Final = 20.0


class GlobArgs(msgspec.Struct, frozen=True):
    """Arguments of glob."""

    pattern: str
    path: str | None = None


class GlobTool(Tool[GlobArgs]):
    """Finds files, leaving out what is hidden or ignored."""

    id: ClassVar[str] = "glob"
    wire_name: ClassVar[str] = "glob"
    kind: ClassVar[ToolKind] = ToolKind.LIST
    read_only: ClassVar[bool] = True
    args_type: ClassVar[type[msgspec.Struct]] = GlobArgs

    def subject(self, args: GlobArgs, ctx: ToolCallContext) -> Subject:
        """The folder that is looked through."""
        return Subject("Read", str(_split(args, ctx).top), "Look for files here?")

    def projection(self, args: GlobArgs) -> dict[str, str | int]:
        """Pattern and folder."""
        shown: dict[str, str | int] = {"pattern": args.pattern}
        if args.path:
            shown["path"] = args.path
        return shown

    async def run(self, args: GlobArgs, ctx: ToolCallContext) -> ToolOutput:
        """Find them. Raises `ToolError`."""
        where, workspace = _split(args, ctx), ctx.resources.get(Workspace)
        try:
            glob = Glob(where.pattern)
        except ValueError as error:
            raise ToolError(
                ToolErrorKind.INVALID_ARGUMENTS,
                f"`pattern` is not usable: {error}. Give one such as `src/**/*.py`.",
            ) from error
        try:
            hidden = ctx.resources.get(HiddenFiles).now()
            found = await asyncio.to_thread(
                _find, where.top, glob, workspace, checker(ctx.cancellation, SECONDS), hidden.covers
            )
        except OutOfTimeError as error:
            raise ToolError(
                ToolErrorKind.TIMEOUT,
                f"Looking through {workspace.shown(where.top)} took longer than {SECONDS:g} s. "
                "Give a folder below it as `path`.",
            ) from error
        except OSError as error:
            raise await asyncio.to_thread(file_error, error, where.top, ctx) from error
        lines = [workspace.shown(Path(path)) for path in found[:LIMIT]]
        summary = SummaryDisplay(f"{len(found)} file{'' if len(found) == 1 else 's'}")
        if not lines:
            return ToolOutput("No files found.", display=summary)
        text = "\n".join(lines)
        if len(found) > LIMIT:
            text += f"\n[the newest {LIMIT} of {len(found)}; narrow the pattern to see the others]"
        if any(line.startswith('"') for line in lines):
            text += f"\n[{QUOTED_NOTE}]"
        return ToolOutput(text, display=summary)


class _Where(NamedTuple):
    top: Path
    pattern: str


def _split(args: GlobArgs, ctx: ToolCallContext) -> _Where:
    """The folder to look through and the pattern below it; a pattern may begin with folders, also absolute."""
    base = path_of(args.path or ".", "path", ctx)
    parts = args.pattern.split("/")
    fixed = 0
    while fixed < len(parts) - 1 and not set(parts[fixed]) & set("*?[{\\"):
        fixed += 1
    prefix = "/".join(parts[:fixed]) or ("/" if args.pattern.startswith("/") else "")
    if not prefix:
        return _Where(base, args.pattern)
    rest = "/".join(parts[fixed:])
    return _Where(path_of(str(base / prefix), "pattern", ctx), rest if "/" in rest else f"./{rest}")


def _find(
    top: Path, glob: Glob, workspace: Workspace, check: Callable[[], None], leaves_out: LeavesOut
) -> list[str]:
    """Paths, newest first; ties by path."""
    workspace.check_readable(top)
    if not top.is_dir():
        raise NotADirectoryError(str(top))
    walk = walk_files(top, check, leaves_out, workspace.gate)
    found = [entry.path for entry in walk if glob.matches(entry.relative)]
    return sorted(found, key=lambda path: (-_modified(path), path))


def _modified(path: str) -> int:
    try:
        return Path(path).stat().st_mtime_ns
    except OSError:
        return 0
