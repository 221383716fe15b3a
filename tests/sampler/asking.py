"""Asking the fake server through the real sampler."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, TypeVar

import msgspec

from grokmini.protocol.errors import SampleError
from grokmini.protocol.items import ConversationItem, ToolCall, user_text
from grokmini.protocol.model import ModelRequest, ModelSpec, Usage
from grokmini.protocol.samples import (
    Finished,
    ReasoningDelta,
    SampleEvent,
    TextDelta,
    ToolCallComplete,
    UsageReported,
)
from grokmini.sampler.credentials import NO_KEY, Credential
from grokmini.sampler.sampler import HttpSampler
from tests.fakes.model_server import ModelServer, Reply, chunk, raw, sse

E = TypeVar("E")


class Waits:
    """A sleep that takes no time and keeps what was asked of it."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


class Answer:
    """The events of one reply, and what they add up to."""

    def __init__(self, events: Sequence[SampleEvent]) -> None:
        self.events = list(events)

    def of(self, kind: type[E]) -> list[E]:
        """The events of that type."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(event.text for event in self.of(TextDelta))

    @property
    def reasoning(self) -> str:
        """The whole reasoning."""
        return "".join(event.text for event in self.of(ReasoningDelta))

    @property
    def calls(self) -> list[ToolCall]:
        """The complete calls."""
        return [event.call for event in self.of(ToolCallComplete)]

    @property
    def named_calls(self) -> list[tuple[str, Any]]:
        """Names and decoded arguments of the complete calls."""
        return [(call.name, msgspec.json.decode(call.arguments)) for call in self.calls]

    @property
    def usage(self) -> Usage:
        """The one usage report."""
        (event,) = self.of(UsageReported)
        return event.usage

    @property
    def finish(self) -> str:
        """The reason of the last event, which has to be the end."""
        last = self.events[-1]
        assert isinstance(last, Finished)
        return last.reason


def spec_for(server: ModelServer, **changes: Any) -> ModelSpec:
    """A model on that server."""
    spec = ModelSpec(name="m", model="fake-model", base_url=server.url)
    return msgspec.structs.replace(spec, **changes)


def request_for(spec: ModelSpec, *items: ConversationItem) -> ModelRequest:
    """A request with these items, or with a greeting."""
    return ModelRequest("request", spec, items or (user_text("hi"),))


async def ask(
    server: ModelServer,
    *items: ConversationItem,
    credential: Credential = NO_KEY,
    waits: Waits | None = None,
    random: float = 0.0,
    **changes: Any,
) -> Answer:
    """One reply, with retries that take no time. Raises `SampleError`."""
    sampler = HttpSampler(lambda spec: credential, sleep=waits or Waits(), random=lambda: random)
    try:
        async with aclosing(sampler.sample(request_for(spec_for(server, **changes), *items))) as stream:
            return Answer([event async for event in stream])
    finally:
        await sampler.close()


async def ask_for_error(server: ModelServer, **changes: Any) -> SampleError:
    """The error that comes instead of a reply, on the first attempt."""
    try:
        await ask(server, **{"max_attempts": 1, **changes})
    except SampleError as error:
        return error
    raise AssertionError("there was no error")


async def answer_to(*events: object) -> Answer:
    """The reply that these chunks make, sent as a stream with `[DONE]`."""
    with ModelServer([raw(*sse(*events, "[DONE]"))]) as server:
        return await ask(server, max_attempts=1)


async def error_of(*replies: Reply) -> SampleError:
    """The error of one attempt."""
    with ModelServer(replies) as server:
        return await ask_for_error(server)


def text_chunks(*pieces: str) -> list[dict[str, Any]]:
    """Chunks with these pieces of text."""
    return [chunk({"content": piece}) for piece in pieces]


def call_chunk(*entries: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """A chunk with these entries in `tool_calls`."""
    return chunk({"tool_calls": list(entries)}, finish=finish)


def entry(arguments: str | None = None, *, name: str | None = None, **fields: Any) -> dict[str, Any]:
    """An entry of `tool_calls`; what is not given is absent."""
    function = {"name": name, "arguments": arguments}
    return {**fields, "function": {key: value for key, value in function.items() if value is not None}}
