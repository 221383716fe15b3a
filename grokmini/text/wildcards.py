"""Wildcard matching of sequences: characters of a name, words of a command, folders of a path alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

P = TypeVar("P")
T = TypeVar("T")


def matches_whole(
    pattern: Sequence[P], subject: Sequence[T], is_star: Callable[[P], bool], matches: Callable[[P, T], bool]
) -> bool:
    """Whether the pattern covers the whole subject; a star stands for any number of its elements, also none.

    Goes back to the last star only, which is enough: at most len(pattern) x len(subject) steps.
    """
    at = index = resume = 0
    star = -1
    while index < len(subject):
        if at < len(pattern) and is_star(pattern[at]):
            star, resume = at, index
            at += 1
        elif at < len(pattern) and matches(pattern[at], subject[index]):
            at += 1
            index += 1
        elif star >= 0:
            resume += 1
            at, index = star + 1, resume
        else:
            return False
    return all(is_star(part) for part in pattern[at:])
