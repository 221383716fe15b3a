"""Where in a TOML text a key stands, so that a message can point at it without quoting the line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Place(NamedTuple):
    """A key with the tables it is in, and where it begins; line and column count from 1."""

    key: tuple[str, ...]
    line: int
    column: int


def key_places(text: str) -> Iterator[Place]:
    """Every table header and every key at the beginning of a line, in order.

    Also for a text that is no valid TOML, as far as it can be told. Keys inside inline tables and inside values
    of several lines are not listed: those stand where their outer key stands.
    """
    table: tuple[str, ...] = ()
    open_value = ""
    for number, line in enumerate(text.split("\n"), 1):
        if open_value:
            open_value = _still_open(line, open_value)
            continue
        start = len(line) - len(line.lstrip())
        rest = line[start:]
        if rest.startswith("["):
            inner = rest.lstrip("[").lstrip()
            table, _ = _dotted(inner)
            if table:
                yield Place(table, number, start + len(rest) - len(inner) + 1)
            continue
        key, length = _dotted(rest)
        after = rest[length:].lstrip()
        if key and after.startswith("="):
            yield Place(table + key, number, start + 1)
            open_value = _still_open(after[1:], "")
        elif key:
            yield Place(table + key, number, start + 1)


def locate(text: str, key: tuple[str, ...]) -> Place | None:
    """Where that key is set: itself, else the nearest thing it is inside of; None when nothing is found."""
    best: Place | None = None
    for place in key_places(text):
        if place.key == key:
            return place
        if place.key == key[: len(place.key)] and (best is None or len(place.key) > len(best.key)):
            best = place
    return best


def key_at(text: str, line: int) -> str:
    """The dotted key whose value a line belongs to; empty when there is none."""
    found = ""
    for place in key_places(text):
        if place.line > line:
            break
        found = ".".join(place.key)
    return found


def _dotted(text: str) -> tuple[tuple[str, ...], int]:
    """The dotted key at the start of a text and how long it is."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        quote = text[position]
        if quote in "\"'":
            end = text.find(quote, position + 1)
            if end < 0:
                break
            parts.append(text[position + 1 : end])
            position = end + 1
        else:
            end = position
            while end < len(text) and (text[end].isalnum() or text[end] in "_-"):
                end += 1
            if end == position:
                break
            parts.append(text[position:end])
            position = end
        ahead = position
        while ahead < len(text) and text[ahead] in " \t":
            ahead += 1
        if ahead < len(text) and text[ahead] == ".":
            position = ahead + 1
            while position < len(text) and text[position] in " \t":
                position += 1
        else:
            break
    return tuple(parts), position


def _still_open(line: str, state: str) -> str:
    """What is open at the end of a line: a triple quote, or as many `[` as arrays are open; empty for nothing."""
    position = 0
    while position < len(line):
        if state.startswith(('"""', "'''")):
            quote, brackets = state[:3], state[3:]
            end = line.find(quote, position)
            while quote == '"""' and end > 0 and line[end - 1] == "\\":
                end = line.find(quote, end + 1)
            if end < 0:
                return state
            position, state = end + 3, brackets
            continue
        char = line[position]
        if line.startswith(('"""', "'''"), position):
            state = line[position : position + 3] + state
            position += 3
            continue
        if char == "#":
            break
        if char in "\"'":
            position = _end_of_string(line, position)
            continue
        if char in "[{":
            state += "["
        elif char in "]}":
            state = state[:-1]
        position += 1
    return state


def _end_of_string(line: str, start: int) -> int:
    quote = line[start]
    position = start + 1
    while position < len(line) and line[position] != quote:
        position += 2 if quote == '"' and line[position] == "\\" else 1
    return position + 1
