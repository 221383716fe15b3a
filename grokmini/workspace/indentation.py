"""Finding lines that differ from the wanted ones in their indentation alone, and indenting the new ones alike."""

from __future__ import annotations

from itertools import pairwise
from math import gcd
from typing import NamedTuple


class IndentMatch(NamedTuple):
    """What was found. `lines` are the numbers (from 1) where such a run of lines begins.

    `span` and `replacement` are set when there is exactly one and the file's indentation can be worked out for
    every new line.
    """

    lines: tuple[int, ...]
    span: tuple[int, int] | None = None
    replacement: str | None = None


def reindented_match(text: str, wanted: str, new: str) -> IndentMatch:
    """Look for `wanted` as whole lines of `text`, ignoring indentation."""
    closed = wanted.endswith("\n")
    wanted_lines = (wanted[:-1] if closed else wanted).split("\n")
    bare = [line.strip(" \t") for line in wanted_lines]
    if not any(bare):
        return IndentMatch(())
    lines = text.split("\n")
    stripped = [line.strip(" \t") for line in lines]
    starts = _runs(stripped, bare)
    if closed:
        starts = [start for start in starts if start + len(bare) < len(lines)]
    numbers = tuple(start + 1 for start in starts)
    if len(starts) != 1:
        return IndentMatch(numbers)
    first = starts[0]
    found = lines[first : first + len(bare)]
    replacement = _reindent(wanted_lines, found, new)
    if replacement is None:
        return IndentMatch(numbers)
    begin = sum(len(line) + 1 for line in lines[:first])
    end = begin + sum(len(line) + 1 for line in found) - (0 if closed else 1)
    return IndentMatch(numbers, (begin, end), replacement)


def _runs(lines: list[str], wanted: list[str]) -> list[int]:
    size = len(wanted)
    anchor = max(range(size), key=lambda index: len(wanted[index]))
    return [
        at - anchor
        for at, line in enumerate(lines)
        if line == wanted[anchor] and at >= anchor and lines[at - anchor : at - anchor + size] == wanted
    ]


def _reindent(wanted: list[str], found: list[str], new: str) -> str | None:
    pairs: dict[str, str] = {}
    for want, have in zip(wanted, found, strict=True):
        if not want.strip(" \t"):
            continue
        if want.lstrip(" \t") != have.lstrip(" \t"):
            return None  # white space at the end differs too
        if pairs.setdefault(_indent(want), _indent(have)) != _indent(have):
            return None
    unit = _unit(pairs)
    result = []
    for line in new.split("\n"):
        body = line.lstrip(" \t")
        indent = _translate(_indent(line), pairs, unit) if body else ""
        if indent is None:
            return None
        result.append(indent + body)
    return "\n".join(result)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(pairs: dict[str, str]) -> tuple[str, str] | None:
    """One step of indentation as the model wrote it and as the file has it, from two known depths."""
    known = sorted(
        {"": "", **pairs}.items() if pairs.get("", "") == "" else pairs.items(), key=lambda p: len(p[0])
    )
    units: set[tuple[str, str]] = set()
    for (shallow, shallow_file), (deep, deep_file) in pairwise(known):
        if not deep.startswith(shallow) or not deep_file.startswith(shallow_file):
            return None
        step, step_file = deep[len(shallow) :], deep_file[len(shallow_file) :]
        if len(set(step)) != 1 or len(set(step_file)) != 1:
            return None
        parts = gcd(len(step), len(step_file))
        units.add((step[: len(step) // parts], step_file[: len(step_file) // parts]))
    return units.pop() if len(units) == 1 else None


def _translate(indent: str, pairs: dict[str, str], unit: tuple[str, str] | None) -> str | None:
    """The file's form of an indentation, or None when it cannot be known."""
    if indent in pairs:
        return pairs[indent]
    base = max((known for known in pairs if indent.startswith(known)), key=len, default=None)
    if base is not None:
        step = _convert(indent[len(base) :], pairs, unit)
        return None if step is None else pairs[base] + step
    deeper = min((known for known in pairs if known.startswith(indent)), key=len, default=None)
    if deeper is None:
        return None
    step = _convert(deeper[len(indent) :], pairs, unit)
    if step is None or not pairs[deeper].endswith(step):
        return None
    return pairs[deeper][: len(pairs[deeper]) - len(step)]


def _convert(step: str, pairs: dict[str, str], unit: tuple[str, str] | None) -> str | None:
    if unit is not None and len(step) % len(unit[0]) == 0 and set(step) == set(unit[0]):
        return unit[1] * (len(step) // len(unit[0]))
    used = set("".join(pairs.values()))
    return step if used <= set(step) and len(set(step)) == 1 else None
