"""Completing `/commands` and `@paths` at the end of a draft."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

MAX_SHOWN = 40
MAX_ENTRIES = 5_000
"""Entries of one folder that are looked at."""


class Completion(NamedTuple):
    """Text to add at the end of the draft, and the candidates to show when it is not decided."""

    addition: str
    candidates: tuple[str, ...] = ()


NOTHING = Completion("")


def complete(
    draft: str,
    commands: Sequence[str],
    cwd: str,
    arguments: Callable[[str], Sequence[str]] = lambda command: (),
) -> Completion:
    """What Tab does: the only candidate whole, of several what they have in common, or a list of them.

    Paths are read from disk, relative to `cwd`; `/cd` and `!` take paths without the `@`. `arguments` gives the
    names that a command takes.
    """
    if draft.startswith("/") and not any(character.isspace() for character in draft):
        return _choose(draft[1:], [name for name in commands if name.startswith(draft[1:].casefold())], " ")
    word = draft.split()[-1] if draft and not draft[-1].isspace() else ""
    if word.startswith("@"):
        return complete_path(word[1:], cwd)
    if draft.startswith(("!", "/cd ")):
        return complete_path(word.removeprefix("!"), cwd)
    command, blank, typed = draft.partition(" ")
    if blank and draft.startswith("/") and " " not in typed:
        return _choose(typed, [name for name in arguments(command[1:]) if name.startswith(typed)], "")
    return NOTHING


def complete_path(typed: str, cwd: str) -> Completion:
    """Complete a path. Hidden entries only once a dot is typed; folders end in a slash."""
    folder, slash, start = typed.rpartition("/")
    names = entries_of(folder + slash, cwd, hidden=start.startswith("."))
    return _choose(start, [name for name in names if name.startswith(start)], "")


def entries_of(folder: str, cwd: str, *, hidden: bool) -> list[str]:
    """What a folder holds, folders with a slash at their end; empty when there is no such folder or user.

    `folder` is as people type it: relative to `cwd`, with `~`. Hidden entries only on request, names with
    control characters never.
    """
    try:
        base = Path(cwd, Path(folder or ".").expanduser())
        with os.scandir(base) as entries:
            return [
                entry.name + ("/" if entry.is_dir() else "")
                for _, entry in zip(range(MAX_ENTRIES), entries, strict=False)
                if (hidden or not entry.name.startswith(".")) and entry.name.isprintable()
            ]
    except (OSError, ValueError, RuntimeError):
        return []


def _choose(start: str, candidates: list[str], end: str) -> Completion:
    if not candidates:
        return NOTHING
    if len(candidates) == 1:
        only = candidates[0]
        return Completion(only[len(start) :] + ("" if only.endswith("/") else end))
    common = _common_beginning(candidates)
    if len(common) > len(start):
        return Completion(common[len(start) :])
    shown = sorted(candidates)[:MAX_SHOWN]
    if len(candidates) > MAX_SHOWN:
        shown.append(f"and {len(candidates) - MAX_SHOWN} more")
    return Completion("", tuple(shown))


def _common_beginning(names: list[str]) -> str:
    first, last = min(names), max(names)
    place = 0
    while place < len(first) and first[place] == last[place]:
        place += 1
    return first[:place]
