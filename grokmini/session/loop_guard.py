"""Telling a loop from honest waiting: the same call with the same arguments and the same result.

Changing results (polling) never count (spec: session-loop.md, "Budgets").
"""

from __future__ import annotations

from enum import Enum
from hashlib import blake2b

NOTE_AT = 3
STOP_AT = 5


class LoopVerdict(Enum):
    """What a call's repetition asks for."""

    NONE = "none"
    NOTE = "note"
    STOP = "stop"


class LoopGuard:
    """Counts identical calls of one prompt."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[bytes, int]] = {}

    def record(self, name: str, arguments: str, result: str) -> LoopVerdict:
        """Count a call that has ended; the verdict is about this very call."""
        digest = blake2b(result.encode("utf-8", "replace"), digest_size=16).digest()
        key = (name, arguments)
        before, count = self._seen.get(key, (b"", 0))
        count = count + 1 if before == digest else 1
        self._seen[key] = (digest, count)
        if count >= STOP_AT:
            return LoopVerdict.STOP
        return LoopVerdict.NOTE if count == NOTE_AT else LoopVerdict.NONE

    def forgive(self) -> None:
        """Start counting anew: the person said to go on."""
        self._seen.clear()
