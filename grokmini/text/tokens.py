"""How many tokens a text costs, as nearly as one can say without the model's own tokenizer, and what share of a
window that is. The one place of this arithmetic; every threshold is reached by being equal to it.
"""

from __future__ import annotations

BYTES_PER_TOKEN = 4

DENSE_SHARE = 0.3
"""From this share of characters outside ASCII on, bytes / 4 counts too little (spec: chat-state.md)."""


def estimate_bytes(count: int) -> int:
    """Tokens of so many bytes of UTF-8: a quarter, rounded up."""
    return -(-count // BYTES_PER_TOKEN)


def estimate_tokens(text: str) -> int:
    """Tokens of a text: its UTF-8 bytes / 4, rounded up."""
    return estimate_bytes(utf8_length(text))


def estimate_carefully(text: str) -> int:
    """Like `estimate_tokens`, but a text with many characters outside ASCII counts a token a character."""
    if text.isascii():
        return estimate_bytes(len(text))
    outside = len(text) - len(text.encode("ascii", "ignore"))
    if outside >= DENSE_SHARE * len(text):
        return max(len(text), estimate_tokens(text))
    return estimate_tokens(text)


def utf8_length(text: str) -> int:
    """Bytes of the text in UTF-8. A lone surrogate counts as the three bytes that replace it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def percent_of(tokens: int, window: int) -> float:
    """What percentage of a window so many tokens are; over 100 when they do not fit. Nothing fits in no window."""
    return 100.0 * tokens / window if window > 0 else (100.0 if tokens else 0.0)


def remaining(window: int, tokens: int) -> int:
    """Tokens left in a window, never below 0."""
    return max(0, window - tokens)


def is_reached(tokens: int, window: int, percent: float) -> bool:
    """Whether so many tokens are that percentage of a window or more."""
    return 100 * tokens >= percent * window
