"""Models and what they are asked: the neutral request, the model's facts, usage."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec

from grokmini.protocol.items import ConversationItem, OptionalRaw
from grokmini.protocol.tools import ToolSpec

Backend = Literal["chat_completions", "responses", "messages", "replay", "demo"]
Tokens: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]
Dollars: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
Seconds: TypeAlias = Annotated[float, msgspec.Meta(gt=0, le=31_536_000)]
"""What can be: at most a year."""


class Supports(msgspec.Struct, frozen=True):
    """What a model or its server can do. `text_calls` says whether calls of tools that stand in the text are taken
    out of it; None: from servers on this machine or in a private network.
    """

    tools: bool = True
    images: bool = False
    json_schema: bool = True
    parallel_tools: bool = True
    system_role: bool = True
    stream_usage: bool = True
    text_calls: bool | None = None


class SupportsEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """`supports` as a user writes it: what is not said is as it is known of the model."""

    tools: bool | None = None
    images: bool | None = None
    json_schema: bool | None = None
    parallel_tools: bool | None = None
    system_role: bool | None = None
    stream_usage: bool | None = None
    text_calls: bool | None = None

    def over(self, known: Supports) -> Supports:
        """What is known, changed by what is said."""
        said = {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}
        return msgspec.structs.replace(known, **said)


class Price(msgspec.Struct, frozen=True, omit_defaults=True):
    """US dollars per million tokens. `cached_input` defaults to the price of fresh input."""

    input: Dollars
    output: Dollars
    cached_input: Dollars | None = None


class TimeLimits(msgspec.Struct, frozen=True):
    """Seconds. `first_byte` None: 120, for reasoning models 600, for loopback and private addresses 1,800."""

    connect: Seconds = 10.0
    first_byte: Seconds | None = None
    between_chunks: Seconds = 120.0
    whole: Seconds | None = None


class ModelSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything known of a model except its key. `name` is ours, `model` is the provider's id.

    `context_window` and `max_output_tokens` are in tokens. Header values from the environment are resolved
    where the request is made and are never part of this value.
    """

    name: str
    model: str
    base_url: str
    api_backend: Backend = "chat_completions"
    context_window: int = 128_000
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    reasoning_effort: str | None = None
    extra_headers: dict[str, str] = {}
    env_http_headers: dict[str, str] = {}
    query_params: dict[str, str] = {}
    supports: Supports = Supports()
    price: Price | None = None
    limits: TimeLimits = TimeLimits()
    max_attempts: int = 5
    preset: str = ""
    provider: str = ""


class ModelEntry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[model.NAME]` as a user writes it (spec: models.md, "Choosing a model").

    The key comes from the first of `api_key`, `env_key` (the first variable that is set) and
    `api_key_command` (run by the shell, its standard output) that gives one. The repr hides it.
    """

    model: str = ""
    base_url: str = ""
    api_backend: Backend | None = None
    api_key: str = ""
    env_key: str | tuple[str, ...] = ()
    api_key_command: str = ""
    context_window: Tokens | None = None
    max_completion_tokens: Tokens | None = None
    temperature: Annotated[float, msgspec.Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    reasoning_effort: str | None = None
    extra_headers: dict[str, str] = {}
    env_http_headers: dict[str, str] = {}
    query_params: dict[str, str] = {}
    supports: SupportsEntry | None = None
    price: Price | None = None
    limits: TimeLimits | None = None

    def __repr__(self) -> str:
        return f"ModelEntry(model={self.model!r}, base_url={self.base_url!r})"


class ModelRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """A backend-neutral request. `items` starts with the system item, if there is one.

    `conversation_id` lets a provider keep its prompt cache warm.
    """

    request_id: str
    model: ModelSpec
    items: tuple[ConversationItem, ...]
    tools: tuple[ToolSpec, ...] = ()
    response_schema: OptionalRaw = None
    conversation_id: str = ""


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens of one or more calls, each counted in exactly one of the first four fields.

    `input` is fresh input, `cached_input` was read from the provider's cache, `cache_write` was written to it.
    `reasoning` is the part of the output that was reasoning (it is inside `output`). `cost_usd` is what the
    provider reported; None when it did not, also for one of several calls: part of a cost is no cost.
    """

    calls: int = 0
    input: int = 0
    cached_input: int = 0
    cache_write: int = 0
    output: int = 0
    reasoning: int = 0
    cost_usd: float | None = None
    incomplete: bool = False

    @property
    def total_input(self) -> int:
        """Everything the model read: what fills the context window."""
        return self.input + self.cached_input + self.cache_write

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.total_input + self.output

    def __add__(self, other: Usage) -> Usage:
        costs = [usage.cost_usd for usage in (self, other) if usage.calls or usage.cost_usd is not None]
        known = [cost for cost in costs if cost is not None]
        return Usage(
            calls=self.calls + other.calls,
            input=self.input + other.input,
            cached_input=self.cached_input + other.cached_input,
            cache_write=self.cache_write + other.cache_write,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cost_usd=sum(known) if known and len(known) == len(costs) else None,
            incomplete=self.incomplete or other.incomplete,
        )


def cost_of(usage: Usage, price: Price | None) -> tuple[float | None, str]:
    """The cost in US dollars and where the figure is from: `reported`, `computed` or, with no figure, ``."""
    if usage.cost_usd is not None:
        return usage.cost_usd, "reported"
    if price is None or usage.incomplete:
        return None, ""
    cached = price.input if price.cached_input is None else price.cached_input
    fresh = (usage.input + usage.cache_write) * price.input
    return (fresh + usage.cached_input * cached + usage.output * price.output) / 1e6, "computed"
