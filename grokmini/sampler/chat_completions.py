"""The backend for `POST /chat/completions`: OpenAI's older API, which nearly every server speaks."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping

import msgspec

from grokmini import __version__
from grokmini.net.failures import host_of
from grokmini.net.http import HttpClient, HttpReply
from grokmini.protocol.codec import decode_json
from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.ids import short_id
from grokmini.protocol.items import AssistantItem
from grokmini.protocol.model import ModelRequest
from grokmini.protocol.samples import SampleEvent
from grokmini.sampler.addressing import deadlines_of, extra_headers, reads_text_calls, with_query
from grokmini.sampler.asked import Asked
from grokmini.sampler.assemble import ReplyAssembler
from grokmini.sampler.chat_request import XAI, encode_body
from grokmini.sampler.chat_wire import (
    Choice,
    Delta,
    decode_chunk,
    details_text,
    fragments_of,
    text_of,
    usage_of,
)
from grokmini.sampler.credentials import Credential
from grokmini.sampler.reasoning_return import ReasoningCollector
from grokmini.sampler.text_calls import TextCalls
from grokmini.text.sse import SseEvent, SseOverflowError, SseParser

DONE = "[DONE]"
_STREAM_STARTS = b"deir:\xef"
"""First bytes of `data`, `event`, `id`, `retry`, a comment and a BOM. Anything else is no event stream."""


class ChatCompletions:
    """Streams replies. Keeps nothing between requests but the HTTP client."""

    def __init__(self, connect: Callable[[], HttpClient], now: Callable[[], float] = time.time) -> None:
        self._connect = connect
        self._now = now

    async def stream(
        self, request: ModelRequest, credential: Credential, *, fresh_key: bool = False
    ) -> AsyncGenerator[SampleEvent, None]:
        """One attempt (see `backends.Backend`)."""
        spec = request.model
        key = await credential.key(fresh=fresh_key)
        asked = Asked(spec, host_of(spec.base_url), credential.source, key)
        reply = await self._connect().post(
            with_query(f"{spec.base_url}/chat/completions", spec.query_params),
            headers=_headers(request, key),
            body=encode_body(request),
            deadlines=deadlines_of(spec),
        )
        try:
            if reply.status != 200:
                raise await self._refused(reply, asked)
            reader = StreamReader(request, asked)
            try:
                async for block in reply.chunks():
                    events = reader.feed(block)
                    if events:
                        for event in events:
                            yield event
                    if reader.done:
                        await reply.drain()
                        break
                for event in reader.end(reply.headers):
                    yield event
            except SampleError:
                for event in reader.so_far():
                    yield event
                raise
        finally:
            await reply.close()

    async def _refused(self, reply: HttpReply, asked: Asked) -> SampleError:
        """The error behind a status; a body that breaks off still leaves the status."""
        from grokmini.sampler.classify import classify, decode_error

        try:
            body = await reply.read()
        except SampleError:
            body = b""
        facts = decode_error(body)
        if 300 <= reply.status < 400:
            target = host_of(reply.headers.get("location", "")) or "nowhere"
            facts = facts._replace(message=f"a redirect to {target}")
        return classify(reply.status, facts, asked, headers=reply.headers, now=self._now())


def _headers(request: ModelRequest, key: str) -> Mapping[str, str]:
    spec = request.model
    headers = {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "user-agent": f"grokmini/{__version__}",
    }
    if key:
        headers["authorization"] = f"Bearer {key}"
    if spec.provider == XAI and request.conversation_id:
        headers["x-grok-conv-id"] = request.conversation_id
    return {**headers, **extra_headers(spec)}


class StreamReader:
    """Bytes of one answer to neutral events."""

    def __init__(self, request: ModelRequest, asked: Asked) -> None:
        taken = {
            call.id for item in request.items if isinstance(item, AssistantItem) for call in item.tool_calls
        }
        self._asked = asked
        self._parser = SseParser()
        self._collector = ReasoningCollector()
        written = TextCalls({tool.name for tool in request.tools}) if reads_text_calls(request) else None
        self._reply = ReplyAssembler(request.model.model, asked.host, taken, short_id, written)
        self._reply.reasoning_return = self._collector.take
        self._plain: bytearray | None = None
        self._started = False
        self.done = False

    def feed(self, block: bytes) -> list[SampleEvent]:
        """The events that these bytes complete. Raises `SampleError`."""
        if not self._started:
            block = block.lstrip()
            if not block:
                return []
            self._started = True
            if block[0] not in _STREAM_STARTS:
                self._plain = bytearray()
        if self._plain is not None:
            self._plain += block
            return []
        try:
            events = self._parser.feed(block)
        except SseOverflowError as error:
            raise self._no_stream("sent an endless event") from error
        self._take(events)
        return self._reply.drain()

    def so_far(self) -> list[SampleEvent]:
        """The events before what was raised: they came with the same bytes."""
        return self._reply.drain()

    def end(self, headers: Mapping[str, str]) -> list[SampleEvent]:
        """The events at the end of the body. Raises `SampleError`."""
        if self._plain is not None:
            self._whole_answer(bytes(self._plain), headers)
        elif not self.done:
            self._take(self._parser.finish())
        return self._reply.end()

    def _take(self, events: list[SseEvent]) -> None:
        for name, data in events:
            if data.strip() == DONE:
                self._reply.ended = self._reply.end_mark = self.done = True
                return
            self._chunk(data, name)

    def _chunk(self, data: str, name: str) -> None:
        try:
            chunk = decode_chunk(data)
        except msgspec.DecodeError as error:
            if "\n" not in data:
                raise self._no_stream("sent an event that is no JSON object") from error
            for line in data.split("\n"):  # events that lost the blank line between them
                self._take([SseEvent(name, line)])
            return
        marked = name == "error" or chunk.type == "error" or chunk.object == "error"
        if chunk.error or (marked and not chunk.choices):
            raise self._broken_off(data)
        if chunk.choices:
            for choice in chunk.choices:
                if not choice.index:
                    self._choice(choice)
        if (chunk.usage is not None or chunk.x_groq is not None) and (usage := usage_of(chunk)) is not None:
            self._reply.usage(usage)
            # A chunk of its own with the figures is the last word of servers that send no finish reason.
            self._reply.ended = self._reply.ended or (not chunk.choices and usage.output > 0)
        if not self._reply.answered_model and isinstance(chunk.model, str):
            self._reply.answered_model = chunk.model

    def _choice(self, choice: Choice) -> None:
        delta = choice.delta if choice.delta is not None else choice.message
        if delta is not None:
            if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
                self._reasoning(delta)
            content = delta.content
            if type(content) is str:
                if content:
                    self._reply.text(content)
            elif content:
                text, thought = text_of(content)
                self._reply.reasoning(thought)
                self._reply.text(text)
            if delta.refusal and isinstance(delta.refusal, str):
                self._reply.refusal(delta.refusal)
            if delta.tool_calls:
                self._reply.calls(fragments_of(delta.tool_calls))
        reason = choice.finish_reason
        if reason and isinstance(reason, str) and reason != "null":
            self._reply.finish(reason)

    def _reasoning(self, delta: Delta) -> None:
        """One thing under three names; details are kept to be given back, and read where they stand alone."""
        self._collector.add(delta.reasoning_details)
        if isinstance(delta.reasoning_content, str) and delta.reasoning_content:
            self._collector.saw_text_field()
            self._reply.reasoning(delta.reasoning_content)
        elif isinstance(delta.reasoning, str) and delta.reasoning:
            self._reply.reasoning(delta.reasoning)
        else:
            self._reply.reasoning(details_text(delta.reasoning_details))

    def _whole_answer(self, body: bytes, headers: Mapping[str, str]) -> None:
        """A body that is no event stream: a server that does not stream, an error, or something else."""
        try:
            chunk = decode_chunk(body.decode("utf-8", "replace"))
        except msgspec.DecodeError as error:
            kind = headers.get("content-type", "something").split(";")[0]
            raise self._no_stream(f"answered with {kind} instead of a completion") from error
        if chunk.error:
            raise self._broken_off(body)
        if not chunk.choices:
            raise self._no_stream("answered with JSON that is no completion")
        self._take([SseEvent("", body.decode("utf-8", "replace"))])
        self._reply.ended = self._reply.end_mark = True

    def _broken_off(self, data: str | bytes) -> SampleError:
        """The error that a server put where its answer should be."""
        from grokmini.sampler.classify import classify, facts_of

        return classify(200, facts_of(decode_json(data, object)), self._asked)

    def _no_stream(self, what: str) -> SampleError:
        spec = self._asked.spec
        return SampleError(
            SampleErrorKind.PROTOCOL,
            f"{self._asked.host} {what}",
            f"Check that {self._asked.clean(spec.base_url)} is the address of an OpenAI-compatible API.",
            retryable=self._plain is None,
        )
