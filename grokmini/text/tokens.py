"""How many tokens a text costs, as nearly as one can say without the model's own tokenizer."""

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
    outside = sum(character > "\x7f" for character in text)
    if outside >= DENSE_SHARE * len(text):
        return max(len(text), estimate_tokens(text))
    return estimate_tokens(text)


def utf8_length(text: str) -> int:
    """Bytes of the text in UTF-8. A lone surrogate counts as the three bytes that replace it."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
