"""What an error of a model server means: its kind, a message, and what to do (reference/quirks.md, "Errors").

Servers agree on nothing: codes are strings, numbers or absent, the error is an object, a string or a list, and
the status may be 200. So the facts are collected first, wherever they stand, and then judged in one place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from grokmini.protocol.errors import SampleError, SampleErrorKind
from grokmini.sampler.asked import Asked
from grokmini.sampler.overflow import find_overflow
from grokmini.sampler.refused_parts import STREAM_USAGE, refused_part
from grokmini.sampler.waiting import MAX_OBEYED_SECONDS, asked_wait

RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530})

_BAD_KEY = re.compile(
    r"(?:incorrect|invalid|wrong|missing|expired|no|bad) api[ _-]?key|api[ _-]?key (?:not valid|is (?:invalid|missing))"
    r"|API_KEY_INVALID|invalid_api_key|authentication (?:failed|error)|invalid x-api-key|unauthori[sz]ed",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"insufficient[ _](?:quota|credits?|balance|funds)|exceeded your current quota|billing|payment required"
    r"|out of credits|used all (?:available )?credits|credit balance|spending limit|quota exceeded",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model[^.]{0,80}(?:not found|does not exist|not exist|unknown|not available|no longer)"
    r"|(?:unknown|invalid|no such) model|no endpoints found|try pulling it",
    re.IGNORECASE,
)
_TOO_LARGE_FOR_RATE = re.compile(r"request too large for|tokens per min[^.]*requested", re.IGNORECASE)
_AUTH_CODES = frozenset({"invalid_api_key", "authentication_error", "unauthorized", "unauthenticated"})
_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_error", "insufficient_credits", "insufficient_balance"}
)
_RATE_CODES = frozenset({"rate_limit_exceeded", "rate_limit_error", "resource_exhausted", "rate_limited"})
_MODEL_CODES = frozenset({"model_not_found", "model_not_available", "not_found_error", "unknown_model"})
_BUSY_CODES = frozenset({"overloaded_error", "overloaded", "server_error", "api_error", "unavailable_error"})
_ASKED_WRONG = frozenset({400, 404, 405, 415, 422})
_RESAMPLED_CODES = frozenset({"tool_use_failed"})
_CODE_KEYS = ("code", "type", "status", "status_code", "reason")
_MAX_DEPTH = 5


class ErrorFacts(NamedTuple):
    """What an error says, wherever it said it. Codes are in lower case, numbers among them as text."""

    message: str
    codes: frozenset[str]
    n_ctx: int | None = None

    @property
    def status(self) -> int | None:
        """The HTTP status that the error names itself, for errors inside a 200 stream."""
        numbers = [int(code) for code in self.codes if code.isdecimal() and len(code) == 3]
        return numbers[0] if numbers else None


def facts_of(error: Any) -> ErrorFacts:
    """Collect from a decoded error: an object, an object under `error`, a string, a list of objects."""
    codes: set[str] = set()
    messages: list[str] = []
    sizes: list[int] = []
    _collect(error, codes, messages, sizes, depth=0)
    return ErrorFacts("; ".join(dict.fromkeys(messages)), frozenset(codes), sizes[0] if sizes else None)


def _collect(node: Any, codes: set[str], messages: list[str], sizes: list[int], depth: int) -> None:
    if depth > _MAX_DEPTH:
        return
    if isinstance(node, str):
        messages.append(node)
    elif isinstance(node, list):
        for entry in node[:8]:
            _collect(entry, codes, messages, sizes, depth + 1)
    elif isinstance(node, dict):
        codes.update(str(node[key]).lower() for key in _CODE_KEYS if isinstance(node.get(key), str | int))
        if isinstance(node.get("n_ctx"), int):
            sizes.append(node["n_ctx"])
        messages.extend(node[key] for key in ("message", "msg", "raw") if isinstance(node.get(key), str))
        if isinstance(node.get("retryDelay"), str):
            messages.append(f"retry in {node['retryDelay']}")
        for key in ("error", "detail", "details", "metadata"):
            _collect(node.get(key), codes, messages, sizes, depth + 1)


def decode_error(body: bytes) -> ErrorFacts:
    """The facts in a body, whatever its content type says; text that is no JSON is the message."""
    try:
        return facts_of(msgspec.json.decode(body))
    except msgspec.DecodeError:
        text = body[:4000].decode("utf-8", "replace").strip()
        if text.startswith("<"):
            text = " ".join(re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(style|script).*?</\1>", " ", text)).split())
        return ErrorFacts(text, frozenset())


def classify(
    status: int, facts: ErrorFacts, asked: Asked, *, headers: Mapping[str, str] | None = None, now: float = 0.0
) -> SampleError:
    """The error to raise for an answer of that status, or for an error object inside a stream (status 200)."""
    told = headers or {}
    inside = status == 200
    status = (facts.status or 500) if inside else status
    kind, hint = _judge(status, facts, asked)
    wait = asked_wait(told, facts.message, now) if kind in _WAITED else None
    retryable = kind in _WAITED and (inside or status in RETRIED_STATUS or kind is SampleErrorKind.RATE_LIMIT)
    if kind is SampleErrorKind.PROTOCOL:
        retryable = True
    if told.get("x-should-retry", "").lower() == "false":
        retryable = False
    if wait is not None and wait > MAX_OBEYED_SECONDS:
        retryable = False
        hint = f"The server asks to wait {wait:.0f} s. Try again then, or use another model."
    overflow = find_overflow(facts.message, facts.codes, facts.n_ctx)
    where = f"{asked.host} answered {status}" if not inside else f"{asked.host} broke off"
    return SampleError(
        kind,
        f"{where}: {asked.clean(facts.message) or 'no reason given'}",
        hint,
        retryable=retryable,
        status=status,
        retry_after=wait,
        window=overflow.window if overflow and kind is SampleErrorKind.CONTEXT_OVERFLOW else None,
    )


_WAITED = frozenset({SampleErrorKind.RATE_LIMIT, SampleErrorKind.SERVER})


def _judge(status: int, facts: ErrorFacts, asked: Asked) -> tuple[SampleErrorKind, str]:
    """Kind and hint. The order matters: what is most specific comes first."""
    message, codes = facts.message, facts.codes
    kinds = SampleErrorKind
    if status == 413 or _TOO_LARGE_FOR_RATE.search(message) or find_overflow(message, codes, facts.n_ctx):
        return (
            kinds.CONTEXT_OVERFLOW,
            "Start a new session (/new), or use a model with a larger context window.",
        )
    if status in (401, 407) or codes & _AUTH_CODES or (status in (400, 403) and _BAD_KEY.search(message)):
        return kinds.AUTH, _key_hint(asked)
    if _is_quota(status, facts):
        return (
            kinds.QUOTA,
            f"Look at the plan and billing of the account behind {asked.key_source or asked.host}.",
        )
    if status == 429 or codes & _RATE_CODES:
        return kinds.RATE_LIMIT, "Wait a little, or use another model (--model)."
    if status == 403:
        return kinds.AUTH, _key_hint(asked)
    if refused_part(message):
        return kinds.BAD_REQUEST, _part_hint(message, asked)
    if codes & _MODEL_CODES or (status in (400, 404, 422) and _NO_MODEL.search(message)):
        hint = f"`grokmini models` lists what {asked.host} has; choose with /model in a session, else with --model."
        return kinds.MODEL_NOT_FOUND, hint
    if status == 404:
        return kinds.BAD_REQUEST, (
            f"Nothing answers under {asked.spec.base_url}. Check that address (base_url, or GROKMINI_BASE_URL); most "
            "servers want it to end in /v1."
        )
    if codes & _RESAMPLED_CODES:
        return kinds.PROTOCOL, "The model wrote a tool call that its server could not read."
    if status >= 500 or status in RETRIED_STATUS or (codes & _BUSY_CODES and status not in _ASKED_WRONG):
        return kinds.SERVER, "The server has trouble; try again in a while, or use another model."
    if 300 <= status < 400:
        return (
            kinds.BAD_REQUEST,
            "Redirects are not followed, so that the key stays. Set base_url to the new address.",
        )
    return kinds.BAD_REQUEST, _request_hint(facts, asked)


def _is_quota(status: int, facts: ErrorFacts) -> bool:
    """Out of money rather than too fast. A quota that names a wait is a rate limit (Gemini)."""
    if status == 402 or facts.codes & _QUOTA_CODES:
        return True
    if status not in (400, 403, 429):
        return False
    return bool(_QUOTA.search(facts.message)) and asked_wait({}, facts.message, 0.0) is None


def _key_hint(asked: Asked) -> str:
    if not asked.key_source:
        return (
            f"{asked.host} wants a key and none was sent. Set GROKMINI_API_KEY, or api_key or env_key under "
            f"{asked.entry} in config.toml."
        )
    return f"The key came from {asked.key_source}. Set a valid one there; `grokmini doctor` tests it."


def _part_hint(message: str, asked: Asked) -> str:
    """What to do about a part of the request that the server refuses."""
    if refused_part(message) == STREAM_USAGE:
        return f"In config.toml, under {asked.entry}: supports = {{stream_usage = false}}."
    if "--jinja" in message:
        return "Start llama.cpp with --jinja, so that it can call tools."
    if "enable-auto-tool-choice" in message:
        return "Start vLLM with --enable-auto-tool-choice and --tool-call-parser, so that it can call tools."
    return (
        "Use a model that can call tools: /model in a session, else --model. To only talk with this one, in "
        f"config.toml, under {asked.entry}: supports = {{tools = false}}."
    )


def _request_hint(facts: ErrorFacts, asked: Asked) -> str:
    if "max_completion_tokens" in facts.message:
        return (
            f"This model takes no max_tokens: leave max_completion_tokens out of {asked.entry} in config.toml."
        )
    if "image" in facts.message.lower():
        return f"If it cannot see, in config.toml, under {asked.entry}: supports = {{images = false}}."
    if "tool" in facts.message.lower():
        return f"If it cannot call tools, in config.toml, under {asked.entry}: supports = {{tools = false}}."
    return "The server does not take this request; `grokmini doctor` tests the connection step by step."
