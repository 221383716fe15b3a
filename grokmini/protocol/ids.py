"""Ids: UUIDv7 for sessions (they sort by time), short ids within a session."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable

_FULL = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_PREFIX = re.compile(r"[0-9a-f]{8}(-|[0-9a-f-]{1,28})?")


def uuid7(now: Callable[[], float] = time.time, random_bytes: Callable[[int], bytes] = os.urandom) -> str:
    """A UUIDv7 (RFC 9562): 48 bits of milliseconds, then random bits, so that ids sort by time."""
    milliseconds = int(now() * 1000) & ((1 << 48) - 1)
    tail = int.from_bytes(random_bytes(10), "big")
    value = milliseconds << 80 | 0x7 << 76 | (tail >> 68 & 0xFFF) << 64 | 0b10 << 62 | tail & ((1 << 62) - 1)
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def is_session_id(text: str) -> bool:
    """Whether the text is a whole session id."""
    return _FULL.fullmatch(text) is not None


def is_session_prefix(text: str) -> bool:
    """Whether the text may be the beginning (8 characters or more) of a session id."""
    return 8 <= len(text) <= 36 and _PREFIX.fullmatch(text) is not None


def time_of(session_id: str) -> float:
    """When an id was made, in seconds since the epoch; 0 when it is no UUIDv7."""
    if not is_session_id(session_id) or session_id[14] != "7":
        return 0.0
    return int(session_id[:8] + session_id[9:13], 16) / 1000


def short_id(random_bytes: Callable[[int], bytes] = os.urandom) -> str:
    """Twelve hexadecimal digits: enough for prompts and requests within one session."""
    return random_bytes(6).hex()
