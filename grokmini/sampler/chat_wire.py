"""The chunks of a chat completion stream, decoded: fast where they are regular, patient where they are not.

Only fields that matter are named; all others are ignored. What has no regular shape stays `Any` and is looked
at where it is used.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from grokmini.protocol.model import Usage
from grokmini.sampler.call_assembly import Fragment

TICKS_PER_USD = 1e10


class Delta(msgspec.Struct, frozen=True, gc=False):
    """`choices[].delta` (or `message`, when a whole answer comes at once)."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    tool_calls: Any = None
    refusal: Any = None


class Choice(msgspec.Struct, frozen=True, gc=False):
    """`choices[]`. A choice other than the first is not ours."""

    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: Any = None
    index: Any = 0


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """One event's data."""

    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    model: Any = None
    x_groq: Any = None
    object: Any = None
    message: Any = None
    type: Any = None
    code: Any = None


_decoder = msgspec.json.Decoder(Chunk)


def decode_chunk(data: str) -> Chunk:
    """Decode one event. Escapes of lone surrogates are kept for the joiner.

    Raises `msgspec.DecodeError` for what is no JSON object.
    """
    try:
        return _decoder.decode(data)
    except msgspec.DecodeError:
        return _patiently(data)


def _patiently(data: str) -> Chunk:
    """The same through the standard library: lone surrogates, and shapes that the struct does not take."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error
    if not isinstance(value, dict):
        raise msgspec.DecodeError("not an object")
    choices = value.get("choices")
    known = {name: value.get(name) for name in Chunk.__struct_fields__ if name != "choices"}
    listed = (
        [_choice(entry) for entry in choices if isinstance(entry, dict)] if isinstance(choices, list) else None
    )
    return Chunk(choices=listed, **known)


def _choice(entry: dict[str, Any]) -> Choice:
    return Choice(
        delta=_delta(entry.get("delta")),
        message=_delta(entry.get("message")),
        finish_reason=entry.get("finish_reason"),
        index=entry.get("index"),
    )


def _delta(value: Any) -> Delta | None:
    if not isinstance(value, dict):
        return None
    return Delta(**{name: value.get(name) for name in Delta.__struct_fields__})


def text_of(content: Any) -> tuple[str, str]:
    """Text and reasoning in a `content` field: a string, or a list of parts (Mistral)."""
    if isinstance(content, str):
        return content, ""
    if not isinstance(content, list):
        return "", ""
    text: list[str] = []
    reasoning: list[str] = []
    for part in content:
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict) and part.get("type") in ("thinking", "reasoning"):
            inner = part.get("thinking") or part.get("reasoning") or part.get("text")
            reasoning.append(text_of(inner)[0])
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            text.append(part["text"])
    return "".join(text), "".join(reasoning)


def details_text(details: Any) -> str:
    """The readable text in `reasoning_details`."""
    if not isinstance(details, list):
        return ""
    texts = [entry.get("text") or entry.get("summary") for entry in details if isinstance(entry, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def fragments_of(tool_calls: Any) -> list[Fragment]:
    """The fragments in a `tool_calls` field; what is none is left out."""
    if not isinstance(tool_calls, list):
        return []
    return [_fragment(entry) for entry in tool_calls if isinstance(entry, dict)]


def _fragment(entry: dict[str, Any]) -> Fragment:
    function = entry.get("function")
    if not isinstance(function, dict):
        function = {}
    index, wire_id, name = entry.get("index"), entry.get("id"), function.get("name")
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        arguments = json.dumps(arguments)
    extra = {key: value for key, value in entry.items() if key.startswith("extra_")}
    return Fragment(
        index=index if isinstance(index, int) else None,
        id=wire_id if isinstance(wire_id, str) else "",
        name=name if isinstance(name, str) else "",
        arguments=arguments if isinstance(arguments, str) else "",
        extra=msgspec.Raw(json.dumps(extra).encode()) if extra else None,
    )


def usage_of(chunk: Chunk) -> Usage | None:
    """The usage that a chunk carries, also in Groq's place; None without one."""
    raw = chunk.usage
    if not isinstance(raw, dict) and isinstance(chunk.x_groq, dict):
        raw = chunk.x_groq.get("usage")
    if not isinstance(raw, dict) or not raw:
        return None
    prompt, completion = _count(raw, "prompt_tokens"), _count(raw, "completion_tokens")
    details = _inner(raw, "prompt_tokens_details")
    cached = (
        _count(details, "cached_tokens")
        or _count(raw, "prompt_cache_hit_tokens")
        or _count(raw, "cache_read_input_tokens")
        or _count(raw, "cached_tokens")
    )
    written = _count(raw, "cache_creation_input_tokens") or _count(details, "cache_write_tokens")
    reasoning = _count(_inner(raw, "completion_tokens_details"), "reasoning_tokens") or _count(
        raw, "reasoning_tokens"
    )
    if reasoning and _count(raw, "total_tokens") == prompt + completion + reasoning:
        completion += reasoning  # xAI counts reasoning beside the completion
    cached = min(cached, prompt)
    written = min(written, prompt - cached)
    return Usage(
        calls=1,
        input=prompt - cached - written,
        cached_input=cached,
        cache_write=written,
        output=completion,
        reasoning=min(reasoning, completion),
        cost_usd=_cost(raw),
    )


def _cost(raw: dict[str, Any]) -> float | None:
    """Ticks (xAI), dollars (OpenRouter) or an object with a total (Perplexity); nothing and 0 are unknown."""
    ticks = raw.get("cost_in_usd_ticks")
    if isinstance(ticks, int | float) and ticks > 0:
        return ticks / TICKS_PER_USD
    cost = raw.get("cost")
    if isinstance(cost, dict):
        cost = cost.get("total_cost")
    return float(cost) if isinstance(cost, int | float) and cost > 0 else None


def _inner(raw: dict[str, Any], name: str) -> dict[str, Any]:
    value = raw.get(name)
    return value if isinstance(value, dict) else {}


def _count(raw: dict[str, Any], name: str) -> int:
    value = raw.get(name)
    return int(value) if isinstance(value, int | float) and value > 0 else 0
