"""Calls and results belong together: what every wire format demands, made true again (spec: "Repair").

Runs at four borders only: load, a real user message, building a request, and after the runtime stopped a turn.
Everywhere else a call without a result may simply still be running.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from grokmini.protocol.items import AssistantItem, Stored, ToolResultItem

_UNKNOWN = "It may have run in part, wholly or not at all: check the present state before you repeat it."
STOPPED = f"This call was interrupted before its result was known. {_UNKNOWN}"
ENDED = f"This call was interrupted because grokmini ended before its result was kept. {_UNKNOWN}"
"""The result of a call found without one when a session is loaded."""


class RepairReport(NamedTuple):
    """What a repair changed, in numbers of items."""

    duplicates_removed: int = 0
    results_added: int = 0
    orphans_removed: int = 0
    results_moved: int = 0
    images_dropped: int = 0

    @property
    def changed(self) -> bool:
        """Whether anything was changed."""
        return any(self)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was done, in words, one entry a kind."""
        told = (
            (self.duplicates_removed, "second result of a call removed"),
            (self.results_added, "interrupted call given a result"),
            (self.orphans_removed, "result without a call removed"),
            (self.results_moved, "result moved to its call"),
            (self.images_dropped, "unusable image left out"),
        )
        return tuple(f"{text} ({count})" for count, text in told if count)


class Repaired(NamedTuple):
    """A valid history, and what had to be done for it."""

    items: list[Stored]
    report: RepairReport


def is_paired(items: Sequence[Stored]) -> bool:
    """Whether every assistant item is followed at once by exactly its calls' results, in order."""
    waiting: deque[str] = deque()
    for stored in items:
        item = stored.item
        if isinstance(item, ToolResultItem):
            if not waiting or waiting.popleft() != item.call_id:
                return False
        elif waiting:
            return False
        elif isinstance(item, AssistantItem) and item.tool_calls:
            waiting.extend(call.id for call in item.tool_calls)
    return not waiting


def repair(items: Sequence[Stored], missing: str = STOPPED) -> Repaired:
    """The same history with every call answered right behind it, with `missing` where there is no result.

    Repairing again changes nothing.

    A result belongs to the latest call before it that has its id: servers use the same ids again in later
    replies. Items other than results keep their order; those between a call and its results come after them.
    """
    if is_paired(items):
        return Repaired(list(items), RepairReport())
    slots, duplicates, orphans = _match(items)
    rebuilt: list[Stored] = []
    added = moved = 0
    for place, stored in enumerate(items):
        item = stored.item
        if isinstance(item, ToolResultItem):
            continue
        rebuilt.append(stored)
        if not isinstance(item, AssistantItem):
            continue
        for number, call in enumerate(item.tool_calls):
            source = slots[place][number]
            if source is None:
                added += 1
                rebuilt.append(Stored(ToolResultItem(call.id, missing, missing, "cancelled")))
            else:
                moved += source != place + 1 + number
                rebuilt.append(items[source])
    return Repaired(rebuilt, RepairReport(duplicates, added, orphans, moved))


class _Match(NamedTuple):
    """For each assistant item's place, the place of each call's result; and the results that fit nowhere."""

    slots: dict[int, list[int | None]]
    duplicates: int
    orphans: int


def _match(items: Sequence[Stored]) -> _Match:
    slots: dict[int, list[int | None]] = {}
    calls: dict[str, list[tuple[int, int]]] = {}
    duplicates = orphans = 0
    for place, stored in enumerate(items):
        item = stored.item
        if isinstance(item, AssistantItem):
            slots[place] = [None] * len(item.tool_calls)
            own: dict[str, list[tuple[int, int]]] = {}
            for number, call in enumerate(item.tool_calls):
                own.setdefault(call.id, []).append((place, number))
            calls.update(own)
        elif isinstance(item, ToolResultItem):
            places = calls.get(item.call_id)
            if places is None:
                orphans += 1
                continue
            free = next(((at, number) for at, number in places if slots[at][number] is None), None)
            if free is None:
                duplicates += 1
            else:
                slots[free[0]][free[1]] = place
    return _Match(slots, duplicates, orphans)
