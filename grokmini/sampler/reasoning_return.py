"""What a chat completion server wants back of its reasoning: the text in its field, or `reasoning_details`."""

from __future__ import annotations

from typing import Any

import msgspec

from grokmini.protocol.codec import clean_surrogates
from grokmini.sampler.chat_request import ReasoningReturn

_JOINED = ("text", "summary", "data")


class ReasoningCollector:
    """Collects while a stretch of reasoning streams; `take` gives the opaque form and begins anew."""

    def __init__(self) -> None:
        self._text_field = ""
        self._details: list[dict[str, Any]] = []

    def saw_text_field(self) -> None:
        """The text came in `reasoning_content`; servers that use this name want it back there."""
        self._text_field = "reasoning_content"

    def add(self, details: Any) -> None:
        """Fragments of `reasoning_details`: those of one type and index are joined."""
        for entry in details if isinstance(details, list) else ():
            if not isinstance(entry, dict):
                continue
            last = self._details[-1] if self._details else None
            if last is not None and all(last.get(key) == entry.get(key) for key in ("type", "index")):
                _join(last, entry)
            else:
                self._details.append(dict(entry))

    def take(self) -> msgspec.Raw | None:
        """The opaque form of what was collected, None for nothing."""
        if not self._details and not self._text_field:
            return None
        details = tuple(msgspec.Raw(msgspec.json.encode(clean_surrogates(entry))) for entry in self._details)
        kept = ReasoningReturn(text_field="" if details else self._text_field, details=details)
        self._details, self._text_field = [], ""
        return msgspec.Raw(msgspec.json.encode(kept))


def _join(last: dict[str, Any], entry: dict[str, Any]) -> None:
    for key, value in entry.items():
        if key in _JOINED and isinstance(value, str) and isinstance(last.get(key), str):
            last[key] += value
        elif last.get(key) is None:
            last[key] = value
