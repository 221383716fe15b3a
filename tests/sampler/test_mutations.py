"""Damaged streams: no crash, no hang, and no call that the server did not finish (spec: models.md, "Must hold")."""

from __future__ import annotations

import json
import random

import pytest

from grokmini.protocol.errors import SampleError
from grokmini.protocol.model import ModelRequest, ModelSpec
from grokmini.protocol.samples import Finished, SampleEvent, TextDelta, ToolCallComplete
from grokmini.sampler.asked import Asked
from grokmini.sampler.chat_completions import StreamReader
from tests.fakes.model_server import call, reply

SEED = 20_261
SMALL, FULL = 2_000, 100_000
SPEC = ModelSpec("m", "m", "http://host/v1")
ASKED = Asked(SPEC, "host", "", "")
WHOLE = b"".join(
    reply(
        "some text, grüße 👍",
        reasoning="let me think",
        calls=[call("f", cmd="rm -r build", deep={"a": [1, 2]}), call("g", path="a.py")],
        piece=5,
    ).chunks
)
MADE = {("f", '{"cmd": "rm -r build", "deep": {"a": [1, 2]}}'), ("g", '{"path": "a.py"}')}


def read(stream: bytes, cuts: list[int]) -> list[SampleEvent]:
    """All events of the stream in these pieces. Raises `SampleError`."""
    reader = StreamReader(ModelRequest("r", SPEC, ()), ASKED)
    events: list[SampleEvent] = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        if not reader.done:
            events += reader.feed(stream[start:end])
    return events + reader.end({})


def mutate(stream: bytes, dice: random.Random) -> bytes:
    """One to three random damages: bytes changed, removed, doubled, put in, or the rest cut off."""
    data = bytearray(stream)
    for _ in range(dice.randint(1, 3)):
        at = dice.randrange(len(data))
        span = dice.choice((1, 1, 2, 7, 40))
        match dice.randrange(5):
            case 0:
                data[at] = dice.randrange(256)
            case 1:
                del data[at : at + span]
            case 2:
                data[at:at] = data[at : at + span]
            case 3:
                data[at:at] = dice.choice(
                    (b"\n\n", b"\r", b'"', b"{", b"}", b"\\ud83d", b"\xff", b"data: ", b"\x00")
                )
            case _:
                del data[at:]
        if not data:
            break
    return bytes(data)


def some_cuts(length: int, dice: random.Random) -> list[int]:
    return sorted(dice.randrange(length + 1) for _ in range(dice.randint(0, 4)))


def test_mutated_streams_do_no_harm(full: bool) -> None:
    count = FULL if full else SMALL
    dice = random.Random(SEED)
    ended = 0
    for _ in range(count):
        stream = mutate(WHOLE, dice)
        try:
            events = read(stream, some_cuts(len(stream), dice))
        except SampleError:
            continue
        ended += 1
        assert isinstance(events[-1], Finished)
        for event in events:
            if isinstance(event, TextDelta):
                event.text.encode()
            if isinstance(event, ToolCallComplete):
                event.call.arguments.encode()
    assert 0 < ended < count


def test_a_stream_cut_anywhere_gives_an_error_or_only_whole_calls() -> None:
    for end in range(len(WHOLE)):
        try:
            events = read(WHOLE[:end], [])
        except SampleError as error:
            assert error.retryable
            continue
        made = {
            (event.call.name, event.call.arguments) for event in events if isinstance(event, ToolCallComplete)
        }
        assert made == MADE


def test_any_cut_into_pieces_gives_the_same_reply() -> None:
    dice = random.Random(SEED)
    for _ in range(60):
        events = read(WHOLE, some_cuts(len(WHOLE), dice))
        assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "some text, grüße 👍"
        assert [event.call.name for event in events if isinstance(event, ToolCallComplete)] == ["f", "g"]


@pytest.mark.parametrize("depth", [100, 2_000, 200_000])
def test_deeply_nested_json_is_an_error_and_no_crash(depth: int) -> None:
    nested = b'data: {"choices":' + b"[" * depth + b"]" * depth + b"}\n\ndata: [DONE]\n\n"
    with pytest.raises(SampleError):
        read(nested, [])


@pytest.mark.parametrize(
    "value", ["null", "5", '"text"', "[]", "{}", '{"choices":[null]}', '{"choices":{}}', "NaN"]
)
def test_values_that_are_no_chunks_do_no_harm(value: str) -> None:
    tail = b"".join(reply("a").chunks)
    try:
        events = read(f"data: {value}\n\n".encode() + tail, [])
    except SampleError:
        return
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "a"


def test_a_huge_delta_is_taken() -> None:
    text = "x" * 5_000_000
    stream = (
        b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}).encode() + b"\n\ndata: [DONE]\n\n"
    )
    events = read(stream, list(range(0, len(stream), 65_536)))
    assert sum(len(event.text) for event in events if isinstance(event, TextDelta)) == len(text)
