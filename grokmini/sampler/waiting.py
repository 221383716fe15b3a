"""How long to wait before asking again: what the server said, else back-off with full jitter.

All functions are pure; times are seconds, `now` is Unix time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

BASE_SECONDS = 0.5
MAX_BACKOFF_SECONDS = 30.0
MAX_OBEYED_SECONDS = 300.0
"""A server that wants more than this is not waited for."""

_TEXT = re.compile(
    r"(?:try again|retry|retry after|wait|available|resets?)(?: \w+){0,2}? (?:in |after |for )?"
    r"(?:about |approximately )?((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?)"
    r"(?![a-z])\s*)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|[smh])", re.IGNORECASE)
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhd]))+")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")


def backoff(attempt: int, random: Callable[[], float]) -> float:
    """Full jitter: anything up to 0.5 s, 1 s, 2 s … 30 s. `attempt` is the one that failed, from 1."""
    ceiling = min(MAX_BACKOFF_SECONDS, BASE_SECONDS * 2.0 ** min(attempt - 1, 16))
    return ceiling * random()


def asked_wait(headers: Mapping[str, str], message: str, now: float) -> float | None:
    """The wait that an error answer asks for: Retry-After, else reset headers, else its text."""
    waits = (_retry_after(headers, now), _resets(headers, now), text_wait(message))
    return next((wait for wait in waits if wait is not None), None)


def text_wait(message: str) -> float | None:
    """A wait in words: `try again in 19 seconds`, `retry in 1m30s`, `"retryDelay": "22s"`."""
    found = _TEXT.search(message)
    if found is None:
        return None
    return sum(_part(number, unit) for number, unit in _PART.findall(found[1]))


def duration(text: str) -> float | None:
    """`6m0s`, `22ms`, `1.5s` as seconds; None for anything else."""
    if not _DURATION.fullmatch(text):
        return None
    return sum(_part(number, unit) for number, unit in re.findall(r"([\d.]+)(ms|[smhd])", text))


def _part(number: str, unit: str) -> float:
    lowered = unit.lower()
    if lowered.startswith(("ms", "milli")):
        return float(number) / 1000
    return float(number) * _UNITS[lowered[0]]


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """The larger of `retry-after-ms` and `retry-after` (Azure sends 0 in the first and 1 in the second)."""
    waits = []
    if (milliseconds := _number(headers.get("retry-after-ms", ""))) is not None:
        waits.append(milliseconds / 1000)
    given = headers.get("retry-after", "").strip()
    if (seconds := _number(given)) is not None:
        waits.append(seconds)
    elif given:
        moment = _http_date(given)
        if moment is not None:
            waits.append(max(0.0, moment - now))
    return max(waits) if waits else None


def _resets(headers: Mapping[str, str], now: float) -> float | None:
    """When an exhausted allowance is filled up again; allowances that still hold something do not count."""
    waits = []
    for prefix, order in (("x-ratelimit-", "{what}-{kind}"), ("anthropic-ratelimit-", "{kind}-{what}")):
        for kind in _KINDS:
            left = headers.get(prefix + order.format(what="remaining", kind=kind), "0")
            given = headers.get(prefix + order.format(what="reset", kind=kind), "")
            if _number(left) == 0 and (wait := _moment(given, now)) is not None:
                waits.append(wait)
    plain = (_moment(headers.get(name, ""), now) for name in ("x-ratelimit-reset", "ratelimit-reset"))
    waits.extend(wait for wait in plain if wait is not None)
    return max(waits) if waits else None


def _moment(text: str, now: float) -> float | None:
    """Seconds from now until a duration, an offset, a Unix time (s or ms) or an ISO time."""
    text = text.strip()
    if (span := duration(text)) is not None:
        return span
    if (number := _number(text)) is not None:
        if number > 1e11:
            number /= 1000
        return max(0.0, number - now) if number > 1e9 else number
    if not text:
        return None
    from datetime import datetime

    try:
        return max(0.0, datetime.fromisoformat(text).timestamp() - now)
    except ValueError:
        return None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _http_date(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
