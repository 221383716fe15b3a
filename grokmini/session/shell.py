"""The user's own `!command`: run like a command of the agent's, without asking, its output into the context."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from grokmini.protocol import events
from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.errors import ToolError
from grokmini.protocol.ids import short_id
from grokmini.protocol.tools import CommandDisplay, ToolKind
from grokmini.session.parts import Parts
from grokmini.tools.arguments import decode_arguments
from grokmini.tools.contract import NOTHING_STOPPED, Final, Progress, Stopped, ToolCallContext


class ShellRun(NamedTuple):
    """How the command went. `exit_code` is None when it was stopped."""

    command: str
    output: str
    exit_code: int | None
    seconds: float
    stopped: Stopped = NOTHING_STOPPED
    """What the sandbox stopped of it."""

    def for_model(self) -> str:
        """What the model reads of it."""
        ended = "was stopped" if self.exit_code is None else f"exit: {self.exit_code}"
        text = f"The user ran a command:\n$ {self.command}\n{ended}\n{self.output}"
        if not self.stopped.sentence:
            return text
        return f"{text.rstrip()}\n[stopped by the sandbox: {self.stopped.sentence}]"


async def run_shell(parts: Parts, command: str, emit: Callable[[events.SessionEvent], None]) -> ShellRun:
    """Run the command to its end. Cancelled, it is stopped and the run says so."""
    started = parts.monotonic()
    command = join_surrogates(command)
    output, exit_code, stopped = "", None, NOTHING_STOPPED
    printed: list[str] = []
    tool = parts.registry.find(parts.registry.names.of(ToolKind.EXECUTE))
    if tool is None:
        return ShellRun(command, "This session has no tool that runs commands.", None, 0.0)
    raw = msgspec.json.encode({"command": command, "description": "the user's own command"}).decode()
    ctx = ToolCallContext(
        call_id="shell",
        call_name=f"shell-{short_id()}",
        prompt_index=await parts.chat.next_prompt_index(),
        cwd=parts.workspace.root,
        resources=parts.resources,
        names=parts.registry.names,
        spill=parts.spill,
    )
    try:
        async for step in tool.execute(decode_arguments(raw, tool.args_type).args, ctx):
            match step:
                case Progress():
                    printed.append(step.text)
                    emit(events.ToolProgress(ctx.call_name, step.text))
                case Final():
                    output = step.output.output
                    stopped = step.output.stopped
                    display = step.output.display
                    exit_code = display.exit_code if isinstance(display, CommandDisplay) else None
    except ToolError as error:
        output = f"{error.message}\n{error.output}".strip()
    except asyncio.CancelledError:
        ctx.cancellation.cancel()
        task = asyncio.current_task()
        assert task is not None
        task.uncancel()
        output = "".join((*printed, "\n(stopped by the user)")).lstrip("\n")
    seconds = parts.monotonic() - started
    return ShellRun(command, join_surrogates(output), exit_code, seconds, stopped)
