"""read_file: a text file or a part of it, with a line number now and then."""

from __future__ import annotations

import asyncio
from typing import Annotated, ClassVar, Final, NamedTuple

import msgspec

from grokmini.protocol.tools import SummaryDisplay, ToolKind
from grokmini.tools.contract import Subject, Tool, ToolCallContext, ToolOutput
from grokmini.tools.file_access import OpenedText, open_text, path_of
from grokmini.workspace.line_ends import only_crlf
from grokmini.workspace.workspace import Workspace

MAX_LINES: Final = 1_000
MAX_BYTES: Final = 40_000
MAX_LINE: Final = 2_000
NUMBER_EVERY: Final = 10


class ReadArgs(msgspec.Struct, frozen=True):
    """Arguments of read_file."""

    target_file: str
    offset: Annotated[
        int | None, msgspec.Meta(description="first line, from 1; negative counts from the end")
    ] = None
    limit: Annotated[int | None, msgspec.Meta(description="lines")] = None


class ReadFile(Tool[ReadArgs]):
    """Reads through the workspace, which remembers what the model has seen."""

    id: ClassVar[str] = "read_file"
    wire_name: ClassVar[str] = "read_file"
    kind: ClassVar[ToolKind] = ToolKind.READ
    read_only: ClassVar[bool] = True
    args_type: ClassVar[type[msgspec.Struct]] = ReadArgs

    def subject(self, args: ReadArgs, ctx: ToolCallContext) -> Subject:
        """The file."""
        return Subject("Read", str(path_of(args.target_file, "target_file", ctx)), "Read this file?")

    def projection(self, args: ReadArgs) -> dict[str, str | int]:
        """Path and part."""
        shown: dict[str, str | int] = {"path": args.target_file}
        if args.offset is not None and args.offset >= 0:
            shown["offset"] = max(1, args.offset)
        if args.limit is not None:
            shown["limit"] = args.limit
        return shown

    async def run(self, args: ReadArgs, ctx: ToolCallContext) -> ToolOutput:
        """Read it. Raises `ToolError`."""
        opened = await open_text(path_of(args.target_file, "target_file", ctx), ctx)
        return await asyncio.to_thread(_show, opened, args, ctx.resources.get(Workspace))


def _show(opened: OpenedText, args: ReadArgs, workspace: Workspace) -> ToolOutput:
    workspace.views.note(workspace.real(opened.path), opened.data)
    text = opened.text.text
    page = paginate(text, args.offset, args.limit)
    notes = page.notes(text)
    if opened.text.label != "UTF-8":
        notes.append(f"encoding: {opened.text.label}, kept by edits")
    if "\r\n" in text:
        ends = "CRLF" if only_crlf(text) else "mixed CRLF and LF"
        notes.append(f"line ends: {ends}, kept by edits")
    body = [page.numbered()] if page.lines else []
    count = len(page.lines)
    return ToolOutput(
        output="\n".join(page.lines),
        prompt_text="\n".join([*body, *(f"[{note}]" for note in notes)]),
        display=SummaryDisplay(f"{count} line{'' if count == 1 else 's'}"),
    )


class Page(NamedTuple):
    """Some lines of a text. `first` is the number of the first, `total` how many there are in all."""

    lines: list[str]
    first: int
    total: int
    cut_lines: int

    def numbered(self) -> str:
        """The lines, the first and every tenth with its number."""
        return "\n".join(
            f"{number}→{line}" if number == self.first or number % NUMBER_EVERY == 0 else line
            for number, line in enumerate(self.lines, self.first)
        )

    def notes(self, text: str) -> list[str]:
        """What the model should know besides the lines."""
        notes = []
        following = self.first + len(self.lines)
        if not self.total:
            notes.append("the file is empty")
        elif not self.lines:
            notes.append(f"no lines there: the file has {self.total}")
        elif following <= self.total:
            notes.append(f"lines {self.first}-{following - 1} of {self.total}; read on with offset {following}")
        elif self.first > 1:
            notes.append(f"lines {self.first}-{self.total} of {self.total}")
        if self.cut_lines:
            what = "1 line" if self.cut_lines == 1 else f"{self.cut_lines} lines"
            notes.append(f"cut at …: {what} over {MAX_LINE:,} characters")
        if self.lines and following > self.total and text and not text.endswith("\n"):
            notes.append("no newline at the end of the file")
        return notes


def paginate(text: str, offset: int | None, limit: int | None) -> Page:
    """The part asked for, within `MAX_LINES`, `MAX_BYTES` and `MAX_LINE`. A negative offset counts from the end."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    total = len(lines)
    first = max(1, total + offset + 1) if offset is not None and offset < 0 else max(1, offset or 1)
    count = min(limit, MAX_LINES) if limit is not None and limit > 0 else MAX_LINES
    chosen: list[str] = []
    size = cut = 0
    for line in lines[first - 1 : first - 1 + count]:
        line = line.removesuffix("\r")
        if len(line) > MAX_LINE:
            line, cut = line[:MAX_LINE] + "…", cut + 1
        size += len(line.encode("utf-8", "replace")) + 1
        if size > MAX_BYTES and chosen:
            break
        chosen.append(line)
    return Page(chosen, first, total, cut)
