"""How servers say that a request does not fit the context window, and how large the window is."""

from __future__ import annotations

import re
from typing import NamedTuple

OVERFLOW_CODES = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "too_many_prompt_tokens",
        "context_window_exceeded",
        "model_context_window_exceeded",
        "request_too_large",
        "string_above_max_length",
    }
)

_PATTERNS: tuple[str, ...] = (
    r"maximum context length",
    r"maximum prompt length",
    r"context (?:length|window|size)[^.]{0,40}(?:exceed|limit|too)",
    r"exceed\w*[^.]{0,60}context",
    r"(?:prompt|input|request|conversation) (?:is |was )?too (?:long|large)",
    r"too long for this model",
    r"too many (?:input |prompt )?tokens",
    r"(?:input|prompt) (?:token count|tokens?|length)[^.]{0,60}exceed",
    r"token limit (?:reached|exceeded)",
    r"reduce the length of the (?:messages|prompt|input)",
)
_OVERFLOW = re.compile("|".join(_PATTERNS), re.IGNORECASE)

_WINDOWS: tuple[str, ...] = (
    r"maximum context length (?:of the model )?is (\d[\d,_]*)",
    r"maximum prompt length is (\d[\d,_]*)",
    r"tokens? > (\d[\d,_]*) maximum",
    r"maximum (?:number of tokens )?(?:allowed )?\(?(\d[\d,_]*)\)?",
    r"(?:context|window)[^.\d]{0,40}?(?:of|is|size|\(|limit|:)\s*(\d[\d,_]*)",
    r"n_ctx\W{1,5}(\d+)",
)
_WINDOW = tuple(re.compile(pattern, re.IGNORECASE) for pattern in _WINDOWS)
_SMALLEST_WINDOW = 256


class Overflow(NamedTuple):
    """A request that does not fit; `window` in tokens if the server told."""

    window: int | None


def find_overflow(message: str, codes: frozenset[str], n_ctx: int | None = None) -> Overflow | None:
    """Whether the words or codes of an error mean an overflow. `n_ctx` is llama.cpp's own field."""
    if not codes & OVERFLOW_CODES and not _OVERFLOW.search(message):
        return None
    return Overflow(n_ctx or _window(message))


def _window(message: str) -> int | None:
    for pattern in _WINDOW:
        found = pattern.search(message)
        if found:
            size = int(found[1].replace(",", "").replace("_", ""))
            if size >= _SMALLEST_WINDOW:
                return size
    return None
