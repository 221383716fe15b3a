"""Servers that refuse a part of every request: gone on with without it, once, and said."""

from __future__ import annotations

from contextlib import aclosing

import msgspec
import pytest

from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.items import user_text
from grokmini.protocol.model import ModelRequest, ModelSpec
from grokmini.protocol.samples import Adapted
from grokmini.protocol.tools import ToolSpec
from grokmini.sampler.check import check_model
from grokmini.sampler.credentials import NO_KEY
from grokmini.sampler.refused_parts import Refusals
from grokmini.sampler.sampler import HttpSampler
from tests.fakes.model_server import ModelServer, Recorded, Reply, failure, reply
from tests.sampler.asking import Answer, Waits, spec_for

TOOL = ToolSpec("look", "Look.", msgspec.Raw(b'{"type":"object","properties":{}}'))
NO_TOOLS = {"error": {"message": "registry.ollama.ai/library/t:1 does not support tools", "type": "api_error"}}
NO_OPTIONS = {"error": {"message": "Unrecognized request argument supplied: stream_options"}}


def toolless(request: Recorded) -> Reply:
    return failure(400, NO_TOOLS) if request.body.get("tools") else reply("hello")


def plain(request: Recorded) -> Reply:
    return failure(400, NO_OPTIONS) if "stream_options" in request.body else toolless(request)


async def asked_twice(server: ModelServer) -> list[Answer]:
    """Two replies of one sampler to a request with a tool."""
    waits = Waits()
    sampler = HttpSampler(lambda spec: NO_KEY, sleep=waits)
    request = ModelRequest("r", spec_for(server, name="ollama/t:1"), (user_text("hi"),), tools=(TOOL,))
    answers = []
    try:
        for _ in range(2):
            async with aclosing(sampler.sample(request)) as stream:
                answers.append(Answer([event async for event in stream]))
    finally:
        await sampler.close()
    assert waits.seconds == []
    return answers


async def test_without_tools_it_goes_on_at_once_says_so_once_and_does_not_ask_again() -> None:
    with ModelServer(toolless) as server:
        first, second = await asked_twice(server)
        assert ["tools" in request.body for request in server.requests] == [True, False, False]
    assert (first.text, second.text) == ("hello", "hello")
    (adapted,) = first.of(Adapted)
    assert "ollama/t:1 cannot call tools" in adapted.text
    assert 'under [model."ollama/t:1"]: supports = {tools = false}' in adapted.text
    assert second.of(Adapted) == []


async def test_both_parts_can_be_refused_one_after_the_other() -> None:
    with ModelServer(plain) as server:
        first, second = await asked_twice(server)
        assert len(server.requests) == 4
    assert (first.text, second.text, len(first.of(Adapted))) == ("hello", "hello", 2)


async def test_a_server_that_refuses_it_even_so_is_told_and_not_asked_for_ever() -> None:
    with ModelServer([failure(400, NO_TOOLS)], repeat=True) as server:
        with pytest.raises(SampleError) as caught:
            await asked_twice(server)
        assert len(server.requests) == 2
    assert caught.value.kind is SampleErrorKind.BAD_REQUEST


def test_elsewhere_nothing_is_paid_for_without_tools() -> None:
    error = SampleError(SampleErrorKind.BAD_REQUEST, "answered 400: m does not support tools")
    for url, goes_on in (("https://api.example.com/v1", False), ("http://192.168.1.5:11434/v1", True)):
        request = ModelRequest("r", ModelSpec("m", "m", url), (user_text("hi"),), tools=(TOOL,))
        assert (Refusals().learn(error, request) is not None) is goes_on


def test_what_one_model_refused_is_sent_to_another() -> None:
    refusals = Refusals()
    request = ModelRequest("r", ModelSpec("m", "m", "http://127.0.0.1:1/v1"), (user_text("hi"),), tools=(TOOL,))
    refusals.learn(SampleError(SampleErrorKind.BAD_REQUEST, "m does not support tools"), request)
    other = msgspec.structs.replace(request, model=msgspec.structs.replace(request.model, model="o"))
    assert (refusals.fit(request).tools, refusals.fit(other)) == ((), other)


async def test_doctor_says_what_the_server_said() -> None:
    with ModelServer(toolless) as server:
        found = {check.step: check async for check in check_model(spec_for(server), NO_KEY)}
    assert found["tool_call"].verdict == "warning"
    assert "does not support tools" in found["tool_call"].fix
