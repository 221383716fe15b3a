"""Cutting text that is too long, saying what is left out."""

from __future__ import annotations

from typing import NamedTuple


class Cut(NamedTuple):
    """A text that fits, and how many characters of the original it lacks."""

    text: str
    omitted: int


def head_tail(text: str, limit: int) -> Cut:
    """Beginning and end of the text in at most `limit` characters, with a line between them that counts.

    Cuts at line ends where one is near. A limit too small for that line gives the beginning alone.
    """
    if len(text) <= limit:
        return Cut(text, 0)
    room = limit - len(_left_out(len(text)))
    if room < 2:
        return Cut(text[: max(0, limit)], len(text) - max(0, limit))
    head = _back_to_line_end(text[: (room + 1) // 2])
    tail = _on_to_line_start(text, len(text) - room // 2)
    omitted = len(text) - len(head) - len(tail)
    middle = _left_out(omitted)
    if head.endswith("\n"):
        middle = middle[1:]
    return Cut(head + middle + tail, omitted)


def _left_out(count: int) -> str:
    return f"\n… {count:,} characters left out …\n"


def _back_to_line_end(head: str) -> str:
    end = head.rfind("\n") + 1
    return head[:end] if end > len(head) // 2 else head


def _on_to_line_start(text: str, start: int) -> str:
    if start > 0 and text[start - 1] == "\n":
        return text[start:]
    line_start = text.find("\n", start) + 1
    return text[line_start:] if 0 < line_start < start + (len(text) - start) // 2 else text[start:]


def cut_long_lines(text: str, limit: int = 2000) -> str:
    """The text with each line of more than `limit` characters cut there, followed by how many were left out."""
    if len(text) <= limit:
        return text
    return "\n".join(_cut_line(line, limit) for line in text.split("\n"))


def _cut_line(line: str, limit: int) -> str:
    return line if len(line) <= limit else f"{line[:limit]}… [{len(line) - limit:,} more characters]"
