"""One reply of the model as it streams in: pieces go out as events, the whole comes out as items."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing

from grokmini.protocol import events, samples
from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.items import AssistantItem, BackendToolCallItem, ReasoningItem, ToolCall
from grokmini.protocol.model import ModelRequest, Usage
from grokmini.session.call_writing import CallWriting
from grokmini.session.ports import Sampler
from grokmini.text.repetition import RepetitionDetector

RESAMPLES = 2
_KEPT = "The reply repeats itself; it is kept as it is. Ctrl-C stops it."


class Reply:
    """What has come so far. Read by the turn when it is cancelled in the middle."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.pieces: list[str] = []
        self.items: list[ReasoningItem | BackendToolCallItem] = []
        self.calls: list[ToolCall] = []
        self.usage: Usage | None = None
        self.finish: samples.FinishReason | None = None
        self.refusal = False

    @property
    def text(self) -> str:
        """The answer so far."""
        return "".join(self.pieces)

    def restart(self) -> None:
        """Forget what came: the request is made again."""
        self.pieces.clear()
        self.items.clear()
        self.calls.clear()
        self.usage = None
        self.finish = None
        self.refusal = False

    def assistant(self, *, interrupted: bool = False) -> AssistantItem:
        """The reply as an item; an interrupted one keeps its text and none of its calls."""
        return AssistantItem(
            text=self.text,
            tool_calls=() if interrupted else tuple(self.calls),
            model=self.model,
            refusal=self.refusal,
            interrupted=interrupted,
        )


class ReplyStream:
    """Asks for a reply, again when it loops in itself, within its own budget."""

    def __init__(self, sampler: Sampler, emit: Callable[[events.SessionEvent], None]) -> None:
        self._sampler = sampler
        self._emit = emit
        self._call_writing = CallWriting(emit)

    async def receive(self, request: ModelRequest, reply: Reply) -> None:
        """Fill `reply`. Raises `SampleError`. Cancelled, the connection closes and `reply` holds what came."""
        whole = request.model.limits.whole
        try:
            async with asyncio.timeout(whole):
                await self._until_sound(request, reply)
        except TimeoutError:
            raise SampleError(
                SampleErrorKind.TIMEOUT,
                f"{request.model.name} did not finish within {whole:g} s",
                "Raise `limits.whole` of the model, or ask for less at once.",
            ) from None

    async def _until_sound(self, request: ModelRequest, reply: Reply) -> None:
        for attempt in range(1, RESAMPLES + 2):
            if await self._once(request, reply, armed=attempt <= RESAMPLES):
                return
            reply.restart()
            self._emit(
                events.RetryScheduled(
                    attempt=attempt + 1,
                    of=RESAMPLES + 1,
                    delay=0.0,
                    kind="repetition",
                    message="the reply repeated itself",
                    discarded=True,
                )
            )

    async def _once(self, request: ModelRequest, reply: Reply, *, armed: bool) -> bool:
        """One reply to its end; False when it began to repeat itself and was broken off."""
        text, reasoning = RepetitionDetector(), RepetitionDetector()
        noticed = False
        async with aclosing(self._sampler.sample(request)) as stream:
            async for event in stream:
                repeats = False
                if type(event) is samples.TextDelta:
                    reply.pieces.append(event.text)
                    self._emit(events.TextDelta(event.text))
                    repeats = text.feed(event.text)
                elif type(event) is samples.ReasoningDelta:
                    self._emit(events.ReasoningDelta(event.text))
                    repeats = reasoning.feed(event.text)
                elif isinstance(event, samples.Retrying):
                    text, reasoning = RepetitionDetector(), RepetitionDetector()
                    self._retrying(event, reply)
                else:
                    self._other(event, reply)
                if repeats and armed:
                    return False
                if repeats and not noticed:
                    noticed = True
                    self._emit(events.Notice("warning", _KEPT, "repetition"))
        return True

    def _retrying(self, event: samples.Retrying, reply: Reply) -> None:
        reply.restart()
        self._emit(
            events.RetryScheduled(
                event.attempt, event.of, event.delay, event.kind, event.message, event.discarded
            )
        )

    def _other(self, event: samples.SampleEvent, reply: Reply) -> None:
        match event:
            case samples.ReasoningComplete():
                reply.items.append(event.item)
            case samples.ToolCallComplete():
                reply.calls.append(event.call)
            case samples.BackendToolCall():
                reply.items.append(BackendToolCallItem(reply.model, event.payload))
            case samples.UsageReported():
                reply.usage = event.usage
            case samples.RefusalDelta():
                reply.refusal = True
                if event.text:
                    reply.pieces.append(event.text)
                    self._emit(events.TextDelta(event.text))
            case samples.Finished():
                reply.finish = event.reason
                reply.refusal = reply.refusal or event.reason in ("refusal", "content_filter")
            case samples.Adapted():
                self._emit(events.Notice("warning", event.text, "model"))
            case samples.ToolCallStarted():
                self._call_writing.begin(event.name)
            case samples.ToolCallDelta():
                self._call_writing.more(event.arguments)
