"""grep: file contents by regular expression, with ripgrep when it is there."""

from __future__ import annotations

import asyncio
from typing import Annotated, ClassVar, Final, NamedTuple

import msgspec

from grokmini.protocol.errors import SandboxError, ToolError, ToolErrorKind
from grokmini.protocol.tools import SummaryDisplay, ToolKind
from grokmini.sandbox.runner import CommandSpec
from grokmini.tools.contract import Subject, Tool, ToolCallContext, ToolOutput
from grokmini.tools.file_access import QUOTED_NOTE, file_error, path_of
from grokmini.tools.programs import find_program
from grokmini.tools.read_denials import HiddenFiles, ReadDenials
from grokmini.tools.shell_state import ShellState
from grokmini.tools.time_limit import OutOfTimeError, checker
from grokmini.workspace.search import (
    KEPT_BACK,
    OutputMode,
    SearchQuery,
    read_ripgrep,
    ripgrep_argv,
    search_files,
)
from grokmini.workspace.workspace import Workspace

SECONDS: Final = 20.0
MAX_COLLECTED: Final = 5_000_000
MAX_OUTPUT: Final = 40_000
CONTENT_LINES: Final = (200, 2_000)
"""Lines shown unless `head_limit` says otherwise, and at most."""
FILE_LINES: Final = (500, 10_000)


class GrepArgs(msgspec.Struct, frozen=True):
    """Arguments of grep."""

    pattern: str
    path: str | None = None
    glob: str | None = None
    type: Annotated[str | None, msgspec.Meta(description="py, js, rust, …")] = None
    output_mode: OutputMode = "content"
    before: int | None = msgspec.field(default=None, name="-B")
    after: int | None = msgspec.field(default=None, name="-A")
    around: int | None = msgspec.field(default=None, name="-C")
    ignore_case: bool = msgspec.field(default=False, name="-i")
    multiline: bool = False
    head_limit: int | None = None


class Grep(Tool[GrepArgs]):
    """Searches with ripgrep through the session's runner, or in a thread of our own."""

    id: ClassVar[str] = "grep"
    wire_name: ClassVar[str] = "grep"
    kind: ClassVar[ToolKind] = ToolKind.SEARCH
    read_only: ClassVar[bool] = True
    args_type: ClassVar[type[msgspec.Struct]] = GrepArgs

    def subject(self, args: GrepArgs, ctx: ToolCallContext) -> Subject:
        """Where is searched."""
        return Subject("Grep", str(path_of(args.path or ".", "path", ctx)), "Search here?")

    def projection(self, args: GrepArgs) -> dict[str, str | int]:
        """Pattern and place."""
        shown: dict[str, str | int] = {"pattern": args.pattern}
        if args.path:
            shown["path"] = args.path
        return shown

    async def run(self, args: GrepArgs, ctx: ToolCallContext) -> ToolOutput:
        """Search. Raises `ToolError`."""
        query = _query(args, ctx)
        try:
            await asyncio.to_thread(ctx.resources.get(Workspace).check_readable, query.top)
        except OSError as error:
            raise await asyncio.to_thread(file_error, error, query.top, ctx) from error
        state, hidden = ctx.resources.get(ShellState), ctx.resources.get(HiddenFiles).now()
        # ripgrep knows nothing of what may not be read.
        program = None if hidden.any else find_program("rg", state.env.get("PATH"))
        if program:
            found = await _with_ripgrep(program, query, state, ctx)
        else:
            found = await _by_ourselves(query, hidden, ctx)
        return await asyncio.to_thread(_result, args, found)


class _Found(NamedTuple):
    """The raw text. `partial` says why it is not all, empty when it is."""

    text: str
    partial: str = ""


def _query(args: GrepArgs, ctx: ToolCallContext) -> SearchQuery:
    if not args.pattern or "\0" in args.pattern:
        raise _bad("`pattern` is empty or holds a NUL character. Give a regular expression")
    for name, given in (("glob", args.glob), ("type", args.type)):
        if given and "\0" in given:
            raise _bad(f"`{name}` holds a NUL character, which no file name has. Leave it out")
    return SearchQuery(
        pattern=args.pattern,
        top=path_of(args.path or ".", "path", ctx),
        glob=args.glob or "",
        file_type=args.type or "",
        before=max(0, args.before if args.before is not None else args.around or 0),
        after=max(0, args.after if args.after is not None else args.around or 0),
        ignore_case=args.ignore_case,
        multiline=args.multiline,
        mode=args.output_mode,
    )


def _bad(problem: str) -> ToolError:
    return ToolError(ToolErrorKind.INVALID_ARGUMENTS, f"{problem}.")


async def _with_ripgrep(program: str, query: SearchQuery, state: ShellState, ctx: ToolCallContext) -> _Found:
    cwd = ctx.resources.get(Workspace).root
    try:
        handle = await state.runner.start(CommandSpec(ripgrep_argv(program, query, cwd), cwd, dict(state.env)))
    except SandboxError as error:
        text = f"The search did not run: {error.message}. {error.hint}"
        raise ToolError(ToolErrorKind.SANDBOX_UNAVAILABLE, text) from error
    data = bytearray()
    partial = ""
    try:
        async with asyncio.timeout(SECONDS):
            async for chunk in handle.output():
                data += chunk
                if len(data) > MAX_COLLECTED:
                    partial = "there is more than can be collected"
                    break
    except TimeoutError:
        partial = f"stopped after {SECONDS:g} s"
    finally:
        handle.abandon()
    text = data.decode("utf-8", "replace")
    if partial:
        end = "\0" if query.mode == "files_with_matches" else "\n"
        return _Found(read_ripgrep(text[: text.rfind(end) + 1], query.mode), partial)
    status = await handle.wait()
    # It also ends with 2 when one file could not be read; only results hold a NUL.
    if status.code == 2 and text and "\0" not in text:
        raise _bad(f"The search was refused: {' '.join(text.split())[:500]}")
    return _Found(read_ripgrep(text, query.mode))


async def _by_ourselves(query: SearchQuery, hidden: ReadDenials, ctx: ToolCallContext) -> _Found:
    workspace = ctx.resources.get(Workspace)
    check = checker(ctx.cancellation, SECONDS)

    def collect() -> _Found:
        pieces: list[str] = []
        size = 0
        try:
            for piece in search_files(query, workspace.shown, check, hidden.covers, workspace.gate):
                pieces.append(piece)
                size += len(piece)
                if size > MAX_COLLECTED:
                    return _Found("".join(pieces), "there is more than can be collected")
        except OutOfTimeError:
            return _Found("".join(pieces), f"stopped after {SECONDS:g} s")
        return _Found("".join(pieces))

    try:
        return await asyncio.to_thread(collect)
    except ValueError as error:
        raise _bad(f"The search was refused: {error}") from error


def _result(args: GrepArgs, found: _Found) -> ToolOutput:
    lines = found.text.rstrip("\n").split("\n") if found.text.strip() else []
    content = args.output_mode == "content"
    usual, most = CONTENT_LINES if content else FILE_LINES
    limit = min(args.head_limit, most) if args.head_limit and args.head_limit > 0 else usual
    first = next((count for count, line in enumerate(lines, 1) if _is_match(line)), 0) if content else 0
    shown = lines[: max(limit, first)]  # never the file's name alone
    while shown and sum(len(line.encode()) + 1 for line in shown) > MAX_OUTPUT:
        shown = shown[: len(shown) * 3 // 4]
    matches = sum(_is_match(line) for line in lines) if content else len(lines)
    what = ("matching line" if content else "file") + ("" if matches == 1 else "s")
    at_least = "at least " if found.partial else ""
    summary = SummaryDisplay(f"{matches} {what}")
    notes = [found.partial] if found.partial else []
    if args.glob and ".env" in args.glob:
        notes.append(f"files named {KEPT_BACK} are searched only when given as `path`")
    if len(shown) < len(lines):
        notes.append(f"{at_least}{len(lines) - len(shown)} more lines; narrow the search, or raise head_limit")
    if any(line.startswith('"') for line in shown):
        notes.append(QUOTED_NOTE)
    if not lines:
        text = "No matches found." + "".join(f"\n[{note}]" for note in notes)
        return ToolOutput(text, display=summary)
    header = f"Found {at_least}{matches} {what}"
    return ToolOutput("\n".join([header, *shown, *(f"[{note}]" for note in notes)]), display=summary)


def _is_match(line: str) -> bool:
    number, separator, _ = line.partition(":")
    return bool(separator) and number.isdigit()
