"""One call of one tool: locks, time limit, progress, and an end that is always told."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.events import SessionEvent, ToolFinished, ToolProgress, ToolStarted
from grokmini.protocol.items import ToolResultItem, ToolStatus
from grokmini.protocol.tools import Display
from grokmini.session.path_locks import PathLocks
from grokmini.tools.contract import Final, Progress, Tool, ToolCallContext, ToolOutput

_log = logging.getLogger(__name__)

_STATUS: dict[ToolErrorKind, ToolStatus] = {
    ToolErrorKind.PERMISSION_DENIED: "denied",
    ToolErrorKind.DENIED_BY_HOOK: "denied",
    ToolErrorKind.PLAN_MODE: "denied",
    ToolErrorKind.CANCELLED: "cancelled",
}


class CallResult(NamedTuple):
    """How a call ended. `seconds` is the time it ran."""

    status: ToolStatus
    output: str
    prompt_text: str
    display: Display | None = None
    spill: str | None = None
    error_kind: str = ""
    seconds: float = 0.0

    def item(self, call_id: str, notes: tuple[str, ...]) -> ToolResultItem:
        """The result as it goes into the history; `notes` say what was repaired in the arguments."""
        text = "\n".join((self.prompt_text, *(f"[{note}]" for note in notes)))
        return ToolResultItem(call_id, self.output, text, self.status, self.spill)


def failed(kind: ToolErrorKind, message: str, *, output: str = "", seconds: float = 0.0) -> CallResult:
    """A call that did not work; the model reads the message and what output there was."""
    text = f"{message}\n{output}" if output else message
    return CallResult(
        _STATUS.get(kind, "error"), output or message, text, error_kind=kind.value, seconds=seconds
    )


class CallRunner:
    """Runs calls and tells the world how they go."""

    def __init__(
        self, *, emit: Callable[[SessionEvent], None], locks: PathLocks, monotonic: Callable[[], float]
    ) -> None:
        self._emit = emit
        self._locks = locks
        self._monotonic = monotonic

    def report(self, call_name: str, result: CallResult) -> None:
        """Tell that a call is over."""
        self._emit(
            ToolFinished(
                call_id=call_name,
                status=result.status,
                output=result.output,
                seconds=result.seconds,
                display=result.display,
                error_kind=result.error_kind,
                spill=result.spill or "",
            )
        )

    async def run(self, tool: Tool[Any], args: msgspec.Struct, ctx: ToolCallContext) -> CallResult:
        """Run a call to its end; whatever goes wrong is a result. Cancelled, the call is stopped."""
        started = self._monotonic()
        try:
            async with self._locks.hold(tool.writes(args, ctx)):
                self._emit(ToolStarted(ctx.call_name))
                async with asyncio.timeout(tool.default_timeout):
                    output = await self._consume(tool, args, ctx)
            result = CallResult("ok", output.output, output.for_model, output.display, output.spill)
        except ToolError as error:
            result = failed(error.kind, error.message, output=error.output)
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
        result = result._replace(seconds=self._monotonic() - started)
        self.report(ctx.call_name, result)
        return result

    async def _consume(self, tool: Tool[Any], args: msgspec.Struct, ctx: ToolCallContext) -> ToolOutput:
        final: ToolOutput | None = None
        async for step in tool.execute(args, ctx):
            if isinstance(step, Progress):
                if final is None:
                    self._emit(ToolProgress(ctx.call_name, step.text))
            elif isinstance(step, Final):
                if final is not None:
                    _log.error("a tool gave two results", extra={"tool": tool.id})
                    break
                final = step.output
        if final is None:
            raise ToolError(
                ToolErrorKind.INTERNAL, f"{tool.wire_name} ended without a result. Try another way."
            )
        return final
