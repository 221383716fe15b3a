"""One call of one tool: locks, time limit, progress, and an end that is always told."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, assert_never

import msgspec

from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.errors import SandboxError, ToolError, ToolErrorKind
from grokmini.protocol.events import Notice, SessionEvent, ToolFinished, ToolProgress, ToolStarted
from grokmini.protocol.items import ToolResultItem, ToolStatus
from grokmini.protocol.tools import Display
from grokmini.session.path_locks import PathLocks
from grokmini.tools.contract import NOTHING_STOPPED, Final, Progress, Stopped, Tool, ToolCallContext, ToolOutput

_log = logging.getLogger(__name__)

KEPT_OUTPUT = 20_000
"""Characters of a running call's output that are kept for the case that it is stopped."""

_STATUS: dict[ToolErrorKind, ToolStatus] = {
    ToolErrorKind.PERMISSION_DENIED: "denied",
    ToolErrorKind.DENIED_BY_HOOK: "denied",
    ToolErrorKind.PLAN_MODE: "denied",
    ToolErrorKind.CANCELLED: "cancelled",
}


class CallResult(NamedTuple):
    """How a call ended. `seconds` is the time it ran; `stopped` says what the sandbox stopped of it."""

    status: ToolStatus
    output: str
    prompt_text: str
    display: Display | None = None
    spill: str | None = None
    error_kind: str = ""
    seconds: float = 0.0
    stopped: Stopped = NOTHING_STOPPED

    def noted(self, note: str) -> CallResult:
        """The same with one more note for the model, below the first line."""
        first, newline, rest = self.prompt_text.partition("\n")
        return self._replace(prompt_text=f"{first}\n[{note}]{newline}{rest}")

    def item(self, call_id: str, notes: tuple[str, ...]) -> ToolResultItem:
        """The result as it goes into the history; `notes` say what was repaired in the arguments."""
        text = "\n".join((self.prompt_text, *(f"[{note}]" for note in notes)))
        return ToolResultItem(call_id, self.output, join_surrogates(text), self.status, self.spill)


def failed(kind: ToolErrorKind, message: str, *, output: str = "", seconds: float = 0.0) -> CallResult:
    """A call that did not work; the model reads the message and what output there was."""
    text = f"{message}\n{output}" if output else message
    return CallResult(
        _STATUS.get(kind, "error"), output or message, text, error_kind=kind.value, seconds=seconds
    )


def sandbox_text(error: SandboxError) -> str:
    """What the model reads where the profile in force cannot be worked out or kept."""
    return f"Not done: {error.message}. {error.hint}".rstrip()


class _Running:
    """A call under way: when it began, and the end of what it has printed."""

    def __init__(self, started: float) -> None:
        self.started = started
        self._pieces: deque[str] = deque()
        self._size = 0

    def printed(self, text: str) -> None:
        """Keep a piece, and no more than `KEPT_OUTPUT` characters in all."""
        self._pieces.append(text)
        self._size += len(text)
        while self._size > KEPT_OUTPUT and len(self._pieces) > 1:
            self._size -= len(self._pieces.popleft())

    @property
    def output(self) -> str:
        """What is kept."""
        return "".join(self._pieces)


class CallRunner:
    """Runs calls and tells the world how they go."""

    def __init__(
        self, *, emit: Callable[[SessionEvent], None], locks: PathLocks, monotonic: Callable[[], float]
    ) -> None:
        self._emit = emit
        self._locks = locks
        self._monotonic = monotonic
        self._running: dict[str, _Running] = {}

    def stopped(self, ctx: ToolCallContext) -> CallResult:
        """The result of a call that was cancelled before it ended: what it had printed and how long it ran."""
        running = self._running.pop(ctx.call_name, None)
        if running is None:
            return failed(
                ToolErrorKind.CANCELLED, "The user stopped the turn before this call began; it did not run."
            )
        message = "The user stopped the turn before this call ended; it may be half done."
        message += " Its output so far:" if running.output else ""
        seconds = self._monotonic() - running.started
        return failed(ToolErrorKind.CANCELLED, message, output=running.output, seconds=seconds)

    def report(self, call_name: str, result: CallResult) -> None:
        """Tell that a call is over."""
        self._emit(
            ToolFinished(
                call_id=call_name,
                status=result.status,
                output=join_surrogates(result.output),
                seconds=result.seconds,
                display=result.display,
                error_kind=result.error_kind,
                spill=result.spill or "",
            )
        )

    async def run(self, tool: Tool[Any], args: msgspec.Struct, ctx: ToolCallContext) -> CallResult:
        """Run a call to its end; whatever goes wrong is a result, for the caller to report. Cancelled, the call is
        stopped.
        """
        running = self._running[ctx.call_name] = _Running(self._monotonic())
        try:
            async with self._locks.hold(tool.writes(args, ctx)):
                self._emit(ToolStarted(ctx.call_name))
                async with asyncio.timeout(tool.default_timeout):
                    output = await self._consume(tool, args, ctx, running)
            result = CallResult(
                "ok",
                output.output,
                output.for_model,
                output.display,
                output.spill,
                stopped=output.stopped,
            )
        except ToolError as error:
            result = failed(error.kind, error.message, output=error.output)
        except SandboxError as error:
            result = failed(ToolErrorKind.SANDBOX_UNAVAILABLE, sandbox_text(error))
        except TimeoutError:
            ctx.cancellation.cancel()
            result = failed(
                ToolErrorKind.TIMEOUT,
                f"{tool.wire_name} took longer than {tool.default_timeout:g} s and was stopped. Ask for less at once.",
            )
        except asyncio.CancelledError:
            ctx.cancellation.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - the outermost frame of a call
            _log.exception("a tool failed", extra={"tool": tool.id, "call": ctx.call_name})
            result = failed(
                ToolErrorKind.INTERNAL,
                f"{tool.wire_name} failed inside ({type(error).__name__}). Try another way; this is not your fault.",
            )
        del self._running[ctx.call_name]
        return result._replace(seconds=self._monotonic() - running.started)

    async def _consume(
        self, tool: Tool[Any], args: msgspec.Struct, ctx: ToolCallContext, running: _Running
    ) -> ToolOutput:
        final: ToolOutput | None = None
        async for step in tool.execute(args, ctx):
            if final is not None:
                _log.error("a tool went on after its result", extra={"tool": tool.id})
                text = (
                    f"{tool.wire_name} went on after its result; what came then was dropped. Please report it."
                )
                self._emit(Notice("warning", text, "tool_protocol"))
                break
            match step:
                case Progress():
                    text = join_surrogates(step.text)
                    running.printed(text)
                    self._emit(ToolProgress(ctx.call_name, text))
                case Final():
                    final = step.output
                case _:
                    assert_never(step)
        if final is None:
            raise ToolError(
                ToolErrorKind.INTERNAL, f"{tool.wire_name} ended without a result. Try another way."
            )
        return final
