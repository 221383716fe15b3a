"""One reply, put together: what a backend reads from its stream goes in, neutral events come out.

Text that arrives together is given out together. Nothing is complete before the stream said so: a reply that
breaks off raises, and calls whose arguments end in the middle never become `ToolCallComplete`.
"""

from __future__ import annotations

from collections.abc import Callable, Set

import msgspec

from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.protocol.items import ReasoningItem
from grokmini.protocol.model import Usage
from grokmini.protocol.samples import (
    Finished,
    FinishReason,
    ReasoningComplete,
    ReasoningDelta,
    RefusalDelta,
    SampleEvent,
    TextDelta,
    UsageReported,
)
from grokmini.sampler.call_assembly import CallAssembly, Fragment
from grokmini.sampler.surrogates import SurrogateJoiner
from grokmini.sampler.text_calls import TextCalls
from grokmini.sampler.think import ThinkSplitter

_REASONS: dict[str, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "max_output_tokens": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "prohibited_content": "content_filter",
    "blocklist": "content_filter",
    "sensitive": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "tool_use": "tool_calls",
    "refusal": "refusal",
}


class ReplyAssembler:
    """Collects one reply of `model`. `taken` are call ids used before, `new_id` invents ids; `written` takes out the
    calls that stand in the text, where that has to be expected.
    """

    def __init__(
        self,
        model: str,
        host: str,
        taken: Set[str],
        new_id: Callable[[], str],
        written: TextCalls | None = None,
    ) -> None:
        self._model = model
        self._host = host
        self._events: list[SampleEvent] = []
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._stretch: list[str] = []
        self._text_joiner = SurrogateJoiner()
        self._thought_joiner = SurrogateJoiner()
        self._think = ThinkSplitter()
        self._calls = CallAssembly(taken, new_id)
        self._written = written
        self._usage: Usage | None = None
        self._wrote = False
        self._refused = False
        self.reasoning_return: Callable[[], msgspec.Raw | None] = _nothing
        """Gives the opaque form that goes into the reasoning item when a stretch ends."""
        self.answered_model = ""
        self.finish_reason = ""
        self.ended = False
        """Whether the stream said in any way that it is complete."""
        self.end_mark = False
        """Whether nothing of the stream can be missing: its own end mark came."""

    def text(self, piece: str) -> None:
        """A piece of the answer."""
        piece = self._text_joiner.feed(piece)
        if not self._think.settled:
            split = self._think.feed(piece)
            self._reason(split.reasoning)
            piece = split.text
        self._say(piece)

    def reasoning(self, piece: str) -> None:
        """A piece of the model's reasoning."""
        self._reason(self._thought_joiner.feed(piece))

    def refusal(self, piece: str) -> None:
        """A piece of the provider's refusal."""
        self._refused = True
        self._flush()
        self._events.append(RefusalDelta(SurrogateJoiner().feed(piece)))

    def calls(self, fragments: list[Fragment]) -> None:
        """The fragments of calls in one chunk."""
        events = self._calls.add(fragments)
        if events and self._written is not None:
            self._write(self._written.release())
            self._written = None
        if events:
            self._end_stretch()
            self._flush()
            self._events += events

    def usage(self, usage: Usage) -> None:
        """The usage as far as it is known; the last one counts."""
        self._usage = usage

    def finish(self, reason: str) -> None:
        """The reason that the server gives for the end."""
        self.finish_reason = reason.lower()
        self.ended = True

    def drain(self) -> list[SampleEvent]:
        """The events since the last drain."""
        self._flush()
        events, self._events = self._events, []
        return events

    def end(self) -> list[SampleEvent]:
        """The last events, `Finished` among them.

        Raises `SampleError`: `stream_cut` for a reply that broke off, `empty_reply` for one without anything,
        `server` when the server gave an error as the reason. All can be retried.
        """
        self._settle()
        if not self.ended:
            raise self._error(SampleErrorKind.STREAM_CUT, "ended the stream before the reply was complete")
        if self.finish_reason in ("error", "failed"):
            raise self._error(SampleErrorKind.SERVER, "stopped the reply because of an error of its own")
        reason = _REASONS.get(self.finish_reason, "stop")
        complete = self._calls.complete(
            cut_short=reason in ("length", "content_filter"),
            confirmed=self.end_mark and reason in ("stop", "tool_calls") and bool(self.finish_reason),
        )
        if complete is None:
            raise self._error(SampleErrorKind.STREAM_CUT, "ended the stream in the middle of a tool call")
        self._events += complete
        if reason in ("stop", "tool_calls"):
            reason = "tool_calls" if complete else "stop"
            if self._refused:
                reason = "refusal"
            elif not complete and not self._wrote:
                raise self._error(
                    SampleErrorKind.EMPTY_REPLY, "sent a reply without text and without tool calls"
                )
        if self._usage is not None:
            self._events.append(UsageReported(self._usage))
        self._events.append(Finished(reason, self.answered_model or self._model))
        return self.drain()

    def _say(self, piece: str) -> None:
        self._write(piece if self._written is None else self._written.feed(piece))

    def _write(self, piece: str) -> None:
        if piece:
            if self._stretch or self._thoughts:
                self._end_stretch()
            self._texts.append(piece)
            self._wrote = self._wrote or not piece.isspace()

    def _reason(self, piece: str) -> None:
        if piece:
            if self._texts:
                self._flush()
            self._thoughts.append(piece)

    def _settle(self) -> None:
        """Give out everything that was held back."""
        self._reason(self._thought_joiner.finish())
        rest = self._text_joiner.finish()
        if self._think.settled:
            self._say(rest)
        else:
            for split in (self._think.feed(rest), self._think.finish()):
                self._reason(split.reasoning)
                self._say(split.text)
        self._take_written()
        self._end_stretch()
        self._flush()

    def _take_written(self) -> None:
        """The calls that stand in the text, as if the server had taken them out."""
        if self._written is not None:
            text, calls = self._written.finish()
            self._written = None
            self._write(text)
            self.calls([Fragment(None, "", call.name, call.arguments) for call in calls])

    def _flush(self) -> None:
        """Turn collected pieces into events. Text and reasoning are never both pending."""
        if self._texts:
            self._events.append(TextDelta("".join(self._texts)))
            self._texts.clear()
        elif self._thoughts:
            piece = "".join(self._thoughts)
            self._thoughts.clear()
            self._stretch.append(piece)
            self._events.append(ReasoningDelta(piece))

    def _end_stretch(self) -> None:
        """Close the running stretch of reasoning."""
        self._flush()
        opaque = self.reasoning_return()
        if self._stretch or opaque is not None:
            item = ReasoningItem("".join(self._stretch), self._model, opaque)
            self._stretch.clear()
            self._events.append(ReasoningComplete(item))

    def _error(self, kind: SampleErrorKind, what: str) -> SampleError:
        return SampleError(kind, f"{self._host} {what}", "Try again, or use another model.", retryable=True)


def _nothing() -> msgspec.Raw | None:
    return None
