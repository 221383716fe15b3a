"""Which of many paths a few typed letters may mean, best first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import chain
from time import sleep
from typing import TypeVar

T = TypeVar("T")

MAX_MATCHES = 200
"""Matches that are worth showing."""
_CHUNK = 500
"""Paths looked at before other threads get their turn: about a third of a millisecond."""
_LETTERS_ONLY = 3


def letters_in_order(wanted: str) -> re.Pattern[str]:
    """A pattern whose `match` finds texts that have these letters, others between them; in linear time."""
    return re.compile("".join(f"[^{re.escape(letter)}]*+{re.escape(letter)}" for letter in wanted), re.DOTALL)


class PathList:
    """Paths that grow while they are searched. Folders end in a slash."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._folded: list[str] = []
        self._folders: set[str] = set()
        self._nearest: list[str] = []
        self._narrowed: tuple[str, Sequence[int]] = ("", ())
        self._searched = 0

    def __len__(self) -> int:
        return len(self._paths)

    def add(self, files: Sequence[str]) -> None:
        """Add files, and the folders that they are in."""
        for chunk in _chunks(files):
            known = len(self._paths)
            for path in chunk:
                self._put_with_folders(path)
            self._nearest = nsmallest(MAX_MATCHES, (*self._nearest, *self._paths[known:]), key=_distance)

    def best(self, typed: str) -> list[str]:
        """At most `MAX_MATCHES` paths for what was typed, in any case.

        Names that begin so come first, then names that have it, paths that have it, and paths that have its
        letters in this order; of each kind short paths before long ones. Nothing typed means what is nearest.
        A folder that is typed in full is not offered again.
        """
        wanted = typed.casefold()
        if not wanted:
            return list(self._nearest)
        ranked: list[tuple[int, int, str]] = []
        for chunk in _chunks(self._with_letters(wanted)):
            more = ((self._rank(at, wanted), len(self._paths[at]), self._paths[at]) for at in chunk)
            ranked = nsmallest(MAX_MATCHES, (*ranked, *more))
        typed_folder = wanted if wanted[-1] == "/" else None
        return [path for _, _, path in ranked if path.casefold() != typed_folder]

    def _put_with_folders(self, path: str) -> None:
        cut = path.rfind("/") + 1
        while cut and path[:cut] not in self._folders:
            self._folders.add(path[:cut])
            self._put(path[:cut])
            cut = path.rfind("/", 0, cut - 1) + 1
        self._put(path)

    def _put(self, path: str) -> None:
        self._paths.append(path)
        self._folded.append(path.casefold())

    def _with_letters(self, wanted: str) -> Sequence[int]:
        """Where the paths with these letters are. More letters than last time are looked for only there."""
        before, among = self._narrowed
        fresh = range(self._searched, len(self._paths))
        if not before or not wanted.startswith(before):
            before, among, fresh = "", (), range(len(self._paths))
        matches = letters_in_order(wanted).match
        found: list[int] = []
        for chunk in chain(_chunks(among), _chunks(fresh)):
            found += [at for at in chunk if matches(self._folded[at])]
        self._narrowed = (wanted, found)
        self._searched = len(self._paths)
        return found

    def _rank(self, at: int, wanted: str) -> int:
        folded = self._folded[at]
        if wanted not in folded:
            return _LETTERS_ONLY
        name = folded[folded.rfind("/", 0, -1) + 1 :]
        if name.startswith(wanted) or folded.startswith(wanted):
            return 0
        return 1 if wanted in name else 2


def _distance(path: str) -> tuple[int, str]:
    return (path.count("/", 0, -1), path)


def _chunks(whole: Sequence[T]) -> Iterator[Sequence[T]]:
    """Parts of a sequence, with a turn for other threads between them."""
    for start in range(0, len(whole), _CHUNK):
        yield whole[start : start + _CHUNK]
        sleep(0)
