"""The output formats of a headless run: events in, bytes for standard output out. Pure.

`plain` gives the answer alone, `json` one object, `stream-json` the event lines that `updates.jsonl` holds, and
`streaming-json` (in `streaming.py`) the shape of the reference product.

A run that fails before there is a session (no model, no prompt, a folder that is not there) has no
`session_started`: in `json` it is the object, in `stream-json` the single line `turn_ended`, both with an empty
`session_id`, outcome `error` and the exit code. A command line that cannot be read names no format: it is told on
stderr alone.
"""

from __future__ import annotations

import re
from typing import Protocol

import msgspec

from grokmini.headless.run_state import RunState
from grokmini.protocol.codec import encode, encode_event
from grokmini.protocol.events import EventRecord, ToolCallWriting, TurnEnded
from grokmini.protocol.model import Usage
from grokmini.text.sanitise import sanitise

_C1_OR_DELETE = re.compile(rb"\xc2([\x80-\x9f])|\x7f")


class Format(Protocol):
    """One way to write a run."""

    def event(self, record: EventRecord) -> bytes:
        """What an event adds to the output, possibly nothing. Never called for the end of the turn."""

    def end(self, record: EventRecord, ended: TurnEnded, state: RunState) -> bytes:
        """The last bytes. `ended` is how the turn ended, as the exit code will say it."""


class PlainFormat:
    """The last reply's text once it is complete, made harmless; nothing for a turn that failed."""

    def event(self, record: EventRecord) -> bytes:
        """Nothing: only a complete answer is printed."""
        return b""

    def end(self, record: EventRecord, ended: TurnEnded, state: RunState) -> bytes:
        """The answer and a newline."""
        if ended.outcome not in ("completed", "max_turns_reached") or not ended.text:
            return b""
        return sanitise(ended.text.rstrip("\n")).encode() + b"\n"


class JsonFormat:
    """One object at the end (decisions.md, "Events, commands, formats")."""

    def event(self, record: EventRecord) -> bytes:
        """Nothing."""
        return b""

    def end(self, record: EventRecord, ended: TurnEnded, state: RunState) -> bytes:
        """The object and a newline."""
        return json_line(encode(summary(ended, state)))


class StreamJsonFormat:
    """Every event as one line, the last one `turn_ended`."""

    def event(self, record: EventRecord) -> bytes:
        """The event's line, but for what passes and is kept nowhere."""
        if isinstance(record.event, ToolCallWriting):
            return b""
        return json_line(encode_event(record))

    def end(self, record: EventRecord, ended: TurnEnded, state: RunState) -> bytes:
        """The line of the turn's end."""
        return json_line(encode_event(msgspec.structs.replace(record, event=ended)))


def summary(ended: TurnEnded, state: RunState) -> dict[str, object]:
    """The object of the `json` format. `cost` (US dollars) and `error` are there only when known."""
    found: dict[str, object] = {
        "outcome": ended.outcome,
        "exit_code": ended.exit_code,
        "text": ended.text,
        "session_id": state.session_id,
        "model": state.model,
        "rounds": ended.rounds,
        "usage": usage_figures(ended.usage),
        "model_usage": {name: usage_figures(usage) for name, usage in ended.model_usage.items()},
        "cost_source": ended.cost_source or "unknown",
        "denied": list(ended.denied),
    }
    if ended.cost_usd is not None:
        found["cost"] = ended.cost_usd
    if ended.refusal:
        found["refusal"] = True
    if ended.error is not None:
        error = ended.error
        found["error"] = {"kind": error.kind, "message": error.message, "hint": error.hint}
    return found


def usage_figures(usage: Usage) -> dict[str, object]:
    """Every figure of a usage, zeros included. `input` is fresh input; `total` is all input and output."""
    figures: dict[str, object] = {
        "calls": usage.calls,
        "input": usage.input,
        "cached_input": usage.cached_input,
        "cache_write": usage.cache_write,
        "output": usage.output,
        "reasoning": usage.reasoning,
        "total": usage.total,
    }
    if usage.incomplete:
        figures["incomplete"] = True
    return figures


def json_line(line: bytes) -> bytes:
    """A line of JSON that is harmless on a terminal too: C1 controls and DEL as escapes, the same value."""
    if b"\xc2" in line or b"\x7f" in line:
        line = _C1_OR_DELETE.sub(_escaped, line)
    return line + b"\n"


def _escaped(match: re.Match[bytes]) -> bytes:
    return b"\\u00%02x" % (match[1][0] if match[1] else 0x7F)
