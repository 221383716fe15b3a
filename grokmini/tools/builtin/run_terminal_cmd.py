"""run_terminal_command: run a shell command, its output streamed, its whole process tree gone at the end."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

import msgspec

from grokmini.files.places import real_path
from grokmini.protocol.errors import SandboxError, ToolError, ToolErrorKind
from grokmini.protocol.tools import CommandDisplay, ToolKind
from grokmini.sandbox.runner import CommandHandle, CommandSpec, ExitStatus
from grokmini.text.paths import visible_path
from grokmini.tools.command_output import CommandOutput, ProgressText, Shown
from grokmini.tools.contract import Subject, Tool, ToolCallContext, ToolOutput, ToolStep, progress_then_final
from grokmini.tools.leaving import what_was_stopped
from grokmini.tools.no_terminal import terminal_notes
from grokmini.tools.shell_state import ShellState
from grokmini.workspace.workspace import Workspace

if TYPE_CHECKING:
    from grokmini.sandbox.policy import Policy

PROGRESS_INTERVAL: Final = 0.1
"""Seconds between two pieces of progress."""
MAX_COMMAND: Final = 120_000
"""Bytes of a command; the kernel takes no more in one string."""


class RunArgs(msgspec.Struct, frozen=True):
    """Arguments of run_terminal_command."""

    command: str
    description: Annotated[str, msgspec.Meta(description="why, in one short sentence")] = ""
    timeout: Annotated[int | None, msgspec.Meta(description="ms, default 120000")] = None


class RunTerminalCmd(Tool[RunArgs]):
    """Runs commands through the session's `CommandRunner` in its `ShellState`."""

    id: ClassVar[str] = "run_terminal_cmd"
    wire_name: ClassVar[str] = "run_terminal_command"
    kind: ClassVar[ToolKind] = ToolKind.EXECUTE
    default_timeout: ClassVar[float | None] = None
    args_type: ClassVar[type[msgspec.Struct]] = RunArgs

    def subject(self, args: RunArgs, ctx: ToolCallContext) -> Subject:
        """The command itself."""
        return Subject("Bash", args.command, "Run this?")

    def projection(self, args: RunArgs) -> dict[str, str | int]:
        """The command and why."""
        shown: dict[str, str | int] = {"command": args.command}
        if args.description:
            shown["description"] = args.description
        return shown

    def execute(self, args: RunArgs, ctx: ToolCallContext) -> AsyncIterator[ToolStep]:
        """Run it; progress at most ten times a second."""
        running = _Running(args, ctx)
        return progress_then_final(running.progress(), running.result)


class _Running:
    """One run of a command: first its progress, to the end, then its result."""

    def __init__(self, args: RunArgs, ctx: ToolCallContext) -> None:
        self._args = args
        self._ctx = ctx
        self._state = ctx.resources.get(ShellState)
        self._output = CommandOutput(self._state.settings.output_limit, ctx.spill, f"{ctx.call_name}.txt")
        self._seconds = _timeout(args, self._state)
        self._notes: list[str] = []
        self._reason = ""
        self._status = ExitStatus(None)
        self._dump = b""
        self._policy: Policy | None = None
        self._age = 0

    async def progress(self) -> AsyncGenerator[str, None]:
        """Start the command and wait for its end; however this ends, so does the command."""
        command = _checked(self._args.command)
        self._age = self._state.age
        let_out = self._state.take_out(self._ctx.call_name) if self._ctx.outside else None
        if let_out is not None:
            self._spec = _still_real(let_out)
            self._state.move_to(let_out.cwd)  # where a first run, which the sandbox stopped, began
        else:
            self._notes = _leave_lost_folder(self._state, self._ctx)
            self._spec = self._state.spec(command)
        handle = await _start(self._state, self._spec)
        try:
            if not self._spec.outside:
                self._policy = await _policy_in_force(self._state)
            async for text in self._watch(handle):
                yield text
            self._status = await handle.wait()
        finally:
            handle.abandon()
        self._dump = await handle.side_output()

    async def _watch(self, handle: CommandHandle) -> AsyncIterator[str]:
        """Collect the output until it ends or the time is up; text to show now and then."""
        loop = asyncio.get_running_loop()
        progress, stream = ProgressText(), handle.output()
        deadline, show_at = loop.time() + self._seconds, loop.time() + PROGRESS_INTERVAL
        while True:
            wake = min(deadline, show_at) if progress.waiting else deadline
            if await _read(stream, self._output, progress, wake) == "ended":
                return
            if loop.time() >= deadline:
                break
            if progress.waiting and loop.time() >= show_at:
                yield progress.take()
                show_at = loop.time() + PROGRESS_INTERVAL
        self._reason = "timeout"
        handle.abandon()
        await _drain(stream, self._output)

    async def result(self) -> ToolOutput:
        """What the model reads, once the progress has ended."""
        self._notes += _carry(self._state, self._spec, self._dump, self._age, self._ctx)
        if self._output.wants_writing or self._output.is_cut():
            await asyncio.to_thread(self._output.write_batch)
        shown = self._output.finish()
        folders = (self._spec.cwd, self._state.cwd)
        code = None if self._reason else self._status.code
        stopped = await what_was_stopped(shown.text, self._policy, self._args.command, folders, code)
        wanted = await asyncio.to_thread(terminal_notes, shown.text, self._args.command)
        notes = [*stopped.notes, *wanted, *self._notes]
        result = _result(
            self._args, self._status, self._reason, self._seconds, shown, notes, self._spec.outside
        )
        return replace(result, stopped=stopped)


async def _start(state: ShellState, spec: CommandSpec) -> CommandHandle:
    try:
        return await state.runner.start(spec)
    except SandboxError as error:
        raise ToolError(
            ToolErrorKind.SANDBOX_UNAVAILABLE, f"The command did not run: {error.message}. {error.hint}"
        ) from error
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise _too_long() from error
        raise ToolError(ToolErrorKind.IO, f"The command could not be started: {error.strerror}.") from error


async def _policy_in_force(state: ShellState) -> Policy | None:
    """The policy of a command that has just begun. Raises `ToolError`: the command is not to go on then."""
    try:
        return await asyncio.to_thread(lambda: state.runner.policy)
    except SandboxError as error:
        raise ToolError(
            ToolErrorKind.SANDBOX_UNAVAILABLE,
            f"The command was stopped just after it began, since {error.message}. {error.hint} "
            "Whether it did something is not known: look before running it again.",
        ) from error


async def _read(
    stream: AsyncIterator[bytes], output: CommandOutput, progress: ProgressText, wake: float
) -> str:
    """Take one piece, or wait until `wake`. "ended", "piece" or "nothing"."""
    try:
        async with asyncio.timeout_at(wake):
            data = await anext(stream)
    except TimeoutError:
        return "nothing"
    except StopAsyncIteration:
        return "ended"
    output.feed(data)
    progress.feed(data)
    if output.wants_writing:
        await asyncio.to_thread(output.write_batch)
    return "piece"


async def _drain(stream: AsyncIterator[bytes], output: CommandOutput) -> None:
    async for data in stream:
        output.feed(data)
        if output.wants_writing:
            await asyncio.to_thread(output.write_batch)


def _checked(command: str) -> str:
    if not command.strip():
        raise ToolError(ToolErrorKind.INVALID_ARGUMENTS, "`command` is empty. Give the shell command to run.")
    if "\0" in command:
        raise ToolError(
            ToolErrorKind.INVALID_ARGUMENTS,
            "`command` holds a NUL character, which no shell can take. Use printf '\\0' inside it instead.",
        )
    if len(command.encode("utf-8", "surrogatepass")) > MAX_COMMAND:
        raise _too_long()
    return command


def _too_long() -> ToolError:
    return ToolError(
        ToolErrorKind.TOO_LARGE,
        f"`command` is over {MAX_COMMAND:,} bytes, more than the system takes. Put it into a script file and run that.",
    )


def _timeout(args: RunArgs, state: ShellState) -> float:
    """Seconds the command may take."""
    settings = state.settings
    asked = args.timeout / 1000 if args.timeout and args.timeout > 0 else settings.timeout_secs
    return min(asked, settings.max_timeout_secs)


def _leave_lost_folder(state: ShellState, ctx: ToolCallContext) -> list[str]:
    lost = state.cwd
    try:
        (lost / "..").stat()
    except PermissionError:
        why = "can no longer be entered"
    except OSError:
        why = "no longer exists"
    else:
        return []
    root = ctx.resources.get(Workspace).root
    state.move_to(root)
    return [f"{visible_path(lost)} {why}; the command ran in {visible_path(root)}"]


def _still_real(spec: CommandSpec) -> CommandSpec:
    """What was let out, when its folder is still the one that was shown. Raises `ToolError`."""
    if real_path(spec.cwd) != spec.cwd:
        raise ToolError(
            ToolErrorKind.SANDBOX_DENIED,
            f"The command did not run outside: {visible_path(spec.cwd)} became a link meanwhile. Ask again.",
        )
    return spec


def _carry(state: ShellState, spec: CommandSpec, dump: bytes, age: int, ctx: ToolCallContext) -> list[str]:
    state.absorb(spec, dump, age)
    if state.cwd == spec.cwd:
        return []
    now, files = visible_path(state.cwd), visible_path(ctx.cwd)
    return [f"commands now start in {now}; paths of the file tools still start from {files}"]


def _result(
    args: RunArgs,
    status: ExitStatus,
    reason: str,
    seconds: float,
    shown: Shown,
    notes: list[str],
    outside: bool,
) -> ToolOutput:
    if outside:
        notes = [*notes, "ran outside of the sandbox, as the user allowed"]
    if status.lost and not reason:
        reason = "lost"
        notes = [
            "what watches over commands died, and this one was killed with it; how far it got is not known: "
            "look before you run it again",
            *notes,
        ]
    if status.signal is not None and not reason:
        reason = f"signal {status.signal}"
    if reason == "timeout":
        notes = [
            f"stopped after {seconds:g} s with all its processes; a longer `timeout` (ms) can be given",
            *notes,
        ]
    if status.left_over and not reason:
        notes = [f"processes left running were stopped ({status.left_over}): nothing outlives a call", *notes]
    header = f"exit: killed ({reason})" if reason else f"exit: {status.code}"
    lines = [header, *(f"[{note}]" for note in (*shown.notes, *notes))]
    text = "\n".join(lines) + ("\n" + shown.text if shown.text else "")
    code = None if reason else status.code
    return ToolOutput(
        output=shown.text,
        prompt_text=text,
        display=CommandDisplay(
            args.command, code, reason, outside, 0 if reason else status.left_over, shown.lines
        ),
        spill=shown.spill,
    )
