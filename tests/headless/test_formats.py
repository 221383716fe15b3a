"""What each output format writes."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from grokmini.headless.formats import Format, JsonFormat, PlainFormat, StreamJsonFormat
from grokmini.headless.run_state import RunState, failed_before_start
from grokmini.headless.streaming import StreamingJsonFormat
from grokmini.protocol.errors import Outcome
from grokmini.protocol.events import (
    ErrorInfo,
    EventRecord,
    ReasoningDelta,
    SessionEvent,
    SessionStarted,
    TextDelta,
    TodoChanged,
    ToolCallReady,
    ToolCallWriting,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import DiffDisplay, TodoEntry, ToolEnvelope, ToolKind, ToolNamespace

STARTED = SessionStarted(version="0.1.0", cwd="/src", model="fake", mode=PermissionMode.ASK, sandbox="none")
USAGE = Usage(calls=2, input=100, cached_input=40, output=10, reasoning=3)
HOSTILE = "ok\x1b]52;c;aGk=\x07 a\x1b[2Jb\x9b5Ac"


def ended(outcome: Outcome = "completed", exit_code: int = 0, text: str = "done", **more: object) -> TurnEnded:
    plain = TurnEnded(1, outcome, exit_code, text, USAGE, model_usage={"fake": USAGE}, rounds=2)
    return msgspec.structs.replace(plain, **more)


def written(format_: Format, *events: SessionEvent, end: TurnEnded) -> bytes:
    state = RunState()
    state.prompt_id = "p1"
    data = b""
    for seq, event in enumerate((STARTED, *events, end), 1):
        record = EventRecord(seq, 1.5, "s-1", event)
        state.apply(record)
        data += format_.end(record, end, state) if event is end else format_.event(record)
    return data


def lines(data: bytes) -> list[dict[str, object]]:
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def test_plain_prints_only_the_last_complete_answer() -> None:
    data = written(PlainFormat(), TextDelta("Looking."), TextDelta("done"), end=ended(text="done\n"))
    assert data == b"done\n"


@pytest.mark.parametrize(("outcome", "code"), [("error", 8), ("cancelled", 130)])
def test_plain_prints_nothing_of_a_turn_that_failed(outcome: Outcome, code: int) -> None:
    assert written(PlainFormat(), TextDelta("half an"), end=ended(outcome, code, "half an")) == b""


def test_plain_holds_no_control_sequence_of_the_model_and_every_letter() -> None:
    """H09"""
    data = written(PlainFormat(), end=ended(text=HOSTILE))
    text = data.decode()
    assert not any((ord(char) < 32 and char != "\n") or 0x7F <= ord(char) < 0xA0 for char in text)
    assert re.search("ok.*a.*b.*c", text)


def test_json_is_one_object_with_every_figure() -> None:
    (found,) = lines(written(JsonFormat(), TextDelta("done"), end=ended(denied=("rm -rf x",))))
    assert found == {
        "outcome": "completed",
        "exit_code": 0,
        "text": "done",
        "session_id": "s-1",
        "model": "fake",
        "rounds": 2,
        "usage": {
            "calls": 2,
            "input": 100,
            "cached_input": 40,
            "cache_write": 0,
            "output": 10,
            "reasoning": 3,
            "total": 150,
        },
        "model_usage": {"fake": found["usage"]},
        "cost_source": "unknown",
        "denied": ["rm -rf x"],
    }


def test_json_carries_the_error_and_the_cost_when_there_is_one() -> None:
    end = ended(
        "error", 6, "", error=ErrorInfo("quota", "out of money", "pay"), cost_usd=0.25, cost_source="computed"
    )
    (found,) = lines(written(JsonFormat(), end=end))
    assert (found["outcome"], found["exit_code"]) == ("error", 6)
    assert found["error"] == {"kind": "quota", "message": "out of money", "hint": "pay"}
    assert (found["cost"], found["cost_source"]) == (0.25, "computed")


def test_stream_json_begins_with_the_session_and_ends_with_the_turn() -> None:
    found = lines(written(StreamJsonFormat(), TextDelta("done"), end=ended()))
    assert [line["type"] for line in found] == ["session_started", "text_delta", "turn_ended"]
    assert [line["seq"] for line in found] == [1, 2, 3]
    assert all(line["v"] == 1 and line["session_id"] == "s-1" and line["time"] == 1.5 for line in found)


@pytest.mark.parametrize("format_", [JsonFormat(), StreamJsonFormat(), StreamingJsonFormat()])
def test_json_formats_are_harmless_on_a_terminal_and_lose_nothing(format_: Format) -> None:
    """H09: the same text comes back out of the JSON, but no control byte is in it."""
    data = written(format_, TextDelta(HOSTILE + "\x7f"), end=ended(text=HOSTILE + "\x7f"))
    assert not any((char < " " and char != "\n") or "\x7f" <= char < "\xa0" for char in data.decode())
    texts = [line.get("text", line.get("data")) for line in lines(data)]
    assert HOSTILE + "\x7f" in texts


@pytest.mark.parametrize("format_", [StreamJsonFormat(), StreamingJsonFormat()])
def test_what_only_passes_is_in_no_stream(format_: Format) -> None:
    assert b"big.txt" not in written(format_, ToolCallWriting("write", "big.txt", 9), end=ended())


def test_streaming_json_has_the_lines_of_the_reference() -> None:
    tool = ToolEnvelope(
        "search_replace",
        ToolKind.EDIT,
        ToolNamespace.GROK_BUILD,
        "Edit calc.py",
        False,
        input={"path": "calc.py"},
    )
    found = lines(
        written(
            StreamingJsonFormat(),
            ReasoningDelta("hm"),
            ToolCallReady("c1", tool, '{"file_path":"calc.py"}'),
            ToolStarted("c1"),
            ToolFinished("c1", "ok", "edited", 0.1, DiffDisplay("calc.py", "@@", 1, 1)),
            TodoChanged((TodoEntry("1", "fix it", "completed"),)),
            TextDelta("done"),
            end=ended(),
        )
    )
    assert [line["type"] for line in found] == [
        "thought",
        "tool_call",
        "tool_call_update",
        "tool_call_update",
        "plan",
        "text",
        "end",
    ]
    call, running, finished = found[1:4]
    assert (call["toolCallId"], call["kind"], call["rawInput"]) == ("c1", "edit", {"file_path": "calc.py"})
    assert call["locations"] == [{"path": "calc.py"}]
    assert (running["status"], finished["status"]) == ("in_progress", "completed")
    end = found[-1]
    assert (end["stopReason"], end["sessionId"], end["requestId"], end["num_turns"]) == (
        "end_turn",
        "s-1",
        "p1",
        2,
    )
    assert end["usage"] == {
        "input_tokens": 100,
        "cache_read_input_tokens": 40,
        "cache_creation_input_tokens": 0,
        "output_tokens": 10,
        "reasoning_tokens": 3,
        "total_tokens": 150,
    }


def test_streaming_json_ends_in_end_also_after_an_error() -> None:
    end = ended("error", 8, "", error=ErrorInfo("server", "500", ""), usage=Usage(), model_usage={})
    found = lines(written(StreamingJsonFormat(), end=end))
    assert [line["type"] for line in found] == ["error", "end"]
    assert "usage" not in found[-1], "no model call happened, so no spend is told"


def test_streaming_json_leaves_the_cost_out_when_figures_are_incomplete() -> None:
    end = ended(usage=msgspec.structs.replace(USAGE, incomplete=True), cost_usd=1.0)
    (found,) = lines(written(StreamingJsonFormat(), end=end))
    assert found["usage_is_incomplete"] is True
    assert "total_cost_usd" not in found


@pytest.mark.parametrize("format_", [JsonFormat(), StreamJsonFormat(), StreamingJsonFormat()])
def test_a_failure_before_the_start_is_valid_json_whatever_the_text_holds(format_: Format) -> None:
    end = failed_before_start("usage", "cannot work in caf\udce9", "see \udce9", 2)
    assert "\udce9" not in json.dumps(lines(written(format_, end=end)), ensure_ascii=False)


def test_a_failure_before_the_start_is_the_single_line_of_the_stream() -> None:
    end = failed_before_start("usage", "no model is set up.", "", 2)
    record = EventRecord(1, 1.5, "", end)
    (found,) = lines(StreamJsonFormat().end(record, end, RunState()))
    assert found["session_id"] == ""
    assert (found["type"], found["outcome"], found["exit_code"]) == ("turn_ended", "error", 2)
