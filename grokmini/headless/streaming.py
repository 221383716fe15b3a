"""`streaming-json`: the run as lines in the shape of the reference product (reference/cli.md part 3)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from grokmini.headless.formats import json_line
from grokmini.headless.run_state import RunState
from grokmini.protocol.codec import encode
from grokmini.protocol.errors import Outcome
from grokmini.protocol.events import (
    EventRecord,
    ReasoningDelta,
    SessionEvent,
    TextDelta,
    TodoChanged,
    ToolCallReady,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    UsageReported,
)
from grokmini.protocol.items import ToolStatus
from grokmini.protocol.model import Usage
from grokmini.protocol.tools import DiffDisplay

_STOP_REASONS: Mapping[Outcome, str] = {
    "completed": "end_turn",
    "cancelled": "cancelled",
    "max_turns_reached": "max_turn_requests",
    "error": "error",
}
_CALL_STATUS: Mapping[ToolStatus, str] = {
    "ok": "completed",
    "error": "failed",
    "denied": "failed",
    "cancelled": "failed",
}
TICKS_PER_DOLLAR = 10_000_000_000


class StreamingJsonFormat:
    """One line an event that the reference has a line for; the last one is `end`."""

    def event(self, record: EventRecord) -> bytes:
        """The event's line, or nothing where the reference says nothing."""
        line = _line_of(record.event, record)
        return b"" if line is None else json_line(encode(line))

    def end(self, record: EventRecord, ended: TurnEnded, state: RunState) -> bytes:
        """What went wrong, if something did, and the end."""
        lines: list[dict[str, object]] = []
        if ended.outcome == "max_turns_reached":
            lines.append({"type": "max_turns_reached", "num_turns": ended.rounds})
        if ended.error is not None:
            lines.append({"type": "error", "message": ended.error.message, **_spend(ended)})
        stop = "refusal" if ended.refusal else _STOP_REASONS[ended.outcome]
        end: dict[str, object] = {
            "type": "end",
            "stopReason": stop,
            "sessionId": state.session_id,
            "requestId": state.prompt_id,
            "num_turns": ended.rounds,
        }
        lines.append({**end, **_spend(ended)})
        return b"".join(json_line(encode(line)) for line in lines)


def _line_of(event: SessionEvent, record: EventRecord) -> dict[str, object] | None:
    match event:
        case TextDelta(text=text):
            return {"type": "text", "data": text}
        case ReasoningDelta(text=text):
            return {"type": "thought", "data": text}
        case ToolCallReady():
            return _tool_call(event)
        case ToolStarted(call_id=call_id):
            return {"type": "tool_call_update", "toolCallId": call_id, "status": "in_progress"}
        case ToolFinished():
            return _tool_result(event)
        case UsageReported(usage=usage):
            message_id = f"{record.session_id}:{record.seq}"
            return {"type": "usage", "messageId": message_id, "usage": _usage(usage)}
        case TodoChanged(todos=todos):
            entries = [{"content": todo.content, "status": todo.status} for todo in todos]
            return {"type": "plan", "entries": entries}
        case _:
            return None


def _tool_call(event: ToolCallReady) -> dict[str, object]:
    tool = event.tool
    path = tool.input.get("path")
    return {
        "type": "tool_call",
        "toolCallId": event.call_id,
        "title": tool.label,
        "kind": tool.kind,
        "status": "pending",
        "toolName": tool.name,
        "rawInput": _raw_input(event.arguments),
        "content": [],
        "locations": [] if path is None else [{"path": path}],
    }


def _raw_input(arguments: str) -> object:
    """The arguments as JSON; text that is no JSON stays a string."""
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments


def _tool_result(event: ToolFinished) -> dict[str, object]:
    content: list[dict[str, object]] = [{"type": "content", "content": {"type": "text", "text": event.output}}]
    locations: list[dict[str, object]] = []
    if isinstance(event.display, DiffDisplay):
        content.append({"type": "diff", "path": event.display.path, "diff": event.display.diff})
        locations.append({"path": event.display.path})
    return {
        "type": "tool_call_update",
        "toolCallId": event.call_id,
        "status": _CALL_STATUS[event.status],
        "content": content,
        "rawOutput": event.output,
        "locations": locations,
    }


def _usage(usage: Usage) -> dict[str, object]:
    """Here `input_tokens` is fresh input only; the total counts the cache too."""
    return {
        "input_tokens": usage.input,
        "cache_read_input_tokens": usage.cached_input,
        "cache_creation_input_tokens": usage.cache_write,
        "output_tokens": usage.output,
        "reasoning_tokens": usage.reasoning,
        "total_tokens": usage.total,
    }


def _spend(ended: TurnEnded) -> dict[str, object]:
    """Usage and cost; nothing when no model was called, no cost when it is not wholly known."""
    if not ended.usage.calls:
        return {}
    by_model: dict[str, object] = {}
    for name, usage in ended.model_usage.items():
        by_model[name] = {
            "inputTokens": usage.input,
            "outputTokens": usage.output,
            "cacheReadInputTokens": usage.cached_input,
            "modelCalls": usage.calls,
        }
    spend: dict[str, object] = {"usage": _usage(ended.usage), "modelUsage": by_model}
    if ended.usage.incomplete:
        spend["usage_is_incomplete"] = True
    elif ended.cost_usd is not None:
        spend["total_cost_usd"] = ended.cost_usd
        spend["total_cost_usd_ticks"] = round(ended.cost_usd * TICKS_PER_DOLLAR)
    return spend
