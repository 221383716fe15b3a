"""What a model's stream turns into, whatever API it came from."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from grokmini.protocol.items import ReasoningItem, ToolCall
from grokmini.protocol.model import Usage


class TextDelta(msgspec.Struct, frozen=True, tag="text_delta", gc=False):
    """A piece of the answer."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True, tag="reasoning_delta", gc=False):
    """A piece of the model's reasoning."""

    text: str


class ReasoningComplete(msgspec.Struct, frozen=True, tag="reasoning_complete"):
    """One stretch of reasoning, whole, with the provider's opaque form."""

    item: ReasoningItem


class ToolCallStarted(msgspec.Struct, frozen=True, tag="tool_call_started"):
    """A call has begun; its arguments follow. `index` is the call's place in the reply, from 0."""

    index: int
    id: str
    name: str


class ToolCallDelta(msgspec.Struct, frozen=True, tag="tool_call_delta", gc=False):
    """A piece of a call's arguments; not valid JSON by itself."""

    index: int
    arguments: str


class ToolCallComplete(msgspec.Struct, frozen=True, tag="tool_call_complete"):
    """A call whose arguments are complete. Only these are ever run."""

    index: int
    call: ToolCall


class BackendToolCall(msgspec.Struct, frozen=True, tag="backend_tool_call"):
    """A tool that the provider ran itself."""

    payload: msgspec.Raw


class UsageReported(msgspec.Struct, frozen=True, tag="usage_reported"):
    """The tokens of this request, at most once."""

    usage: Usage


class RefusalDelta(msgspec.Struct, frozen=True, tag="refusal_delta"):
    """The provider says that the model refuses; `text` may be empty."""

    text: str


class Retrying(msgspec.Struct, frozen=True, tag="retrying", omit_defaults=True):
    """The attempt failed and will be made again in `delay` seconds.

    `attempt` is the number of the attempt to come, `of` how many there are in all. `discarded` is true when
    text of the failed attempt was already given out: it no longer counts.
    """

    attempt: int
    of: int
    delay: float
    kind: str
    message: str
    discarded: bool = False


class Adapted(msgspec.Struct, frozen=True, tag="adapted"):
    """The server refused a part of the request and is asked again without it. `text` tells the person."""

    text: str


FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "refusal"]


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The reply is complete. Always the last event; a stream that ends without it was cut."""

    reason: FinishReason
    model: str = ""


SampleEvent: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ReasoningComplete
    | ToolCallStarted
    | ToolCallDelta
    | ToolCallComplete
    | BackendToolCall
    | UsageReported
    | RefusalDelta
    | Retrying
    | Adapted
    | Finished
)
