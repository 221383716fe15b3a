"""Cutting text that is too long, saying what is left out."""

from __future__ import annotations


def cut_long_lines(text: str, limit: int = 2000) -> str:
    """The text with each line of more than `limit` characters cut there, followed by how many were left out."""
    if len(text) <= limit:
        return text
    return "\n".join(_cut_line(line, limit) for line in text.split("\n"))


def _cut_line(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[:limit]}… [{len(line) - limit:,} more characters]"
