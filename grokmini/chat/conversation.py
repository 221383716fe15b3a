"""The conversation: a plain list of items and what may be done to it. No I/O, no asyncio."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from grokmini.chat.estimate import Figure, figure_of_item, figure_of_items
from grokmini.chat.repair import STOPPED, RepairReport, is_paired, repair
from grokmini.chat.slimming import clear_old_results
from grokmini.protocol.items import ConversationItem, Stored, SystemItem, UserItem


class Repair(NamedTuple):
    """What a repair did. `appended` is what came to the end; None when older items were changed, too."""

    report: RepairReport
    appended: list[Stored] | None


class Conversation:
    """The history in order. `figure` is the estimate of all of it, kept up to date."""

    def __init__(self, stored: Iterable[Stored] = ()) -> None:
        self._stored = list(stored)
        self._figure = self._count()
        self._paired = 0

    def __len__(self) -> int:
        return len(self._stored)

    @property
    def stored(self) -> tuple[Stored, ...]:
        """The items with their lines, for the disk."""
        return tuple(self._stored)

    @property
    def items(self) -> tuple[ConversationItem, ...]:
        """The items."""
        return tuple(entry.item for entry in self._stored)

    @property
    def figure(self) -> Figure:
        """Estimate of the whole history."""
        return self._figure

    @property
    def next_prompt_index(self) -> int:
        """The index of the next turn: one more than the highest given out, never a count of items."""
        indexes = [
            entry.item.prompt_index
            for entry in self._stored
            if isinstance(entry.item, UserItem) and entry.item.prompt_index is not None
        ]
        return max(indexes, default=-1) + 1

    def push(self, item: ConversationItem) -> Stored:
        """Add an item at the end."""
        stored = Stored(item)
        self._stored.append(stored)
        self._figure = self._figure.plus(figure_of_item(item))
        return stored

    def replace(self, stored: Iterable[Stored]) -> None:
        """A whole new history."""
        self._stored = list(stored)
        self._figure = self._count()
        self._paired = 0

    def replace_system(self, text: str) -> bool:
        """Make this the system prompt. False when it already was."""
        first = self._stored[0].item if self._stored else None
        if isinstance(first, SystemItem):
            if first.text == text:
                return False
            self._stored[0] = Stored(SystemItem(text))
        else:
            self._stored.insert(0, Stored(SystemItem(text)))
            self._paired = 0
        self._figure = self._count()
        return True

    def repair(self, missing: str = STOPPED) -> Repair:
        """Give every call its result, `missing` where there is none. To be called at the four write borders only.

        What was found valid stays so when items are added; only those are looked at.
        """
        before = self._stored
        report = RepairReport()
        appended: list[Stored] | None = []
        if not is_paired(before[self._paired :]):
            items, report = repair(before, missing)
            self.replace(items)
            appended = items[len(before) :] if items[: len(before)] == before else None
        self._paired = len(self._stored)
        return Repair(report, appended)

    def clear_old_results(self) -> int:
        """Drop results too old to matter (slimming, second layer); how many were dropped now."""
        slim = clear_old_results(self._stored)
        if slim.changed:
            self.replace(slim.items)
        return slim.changed

    def _count(self) -> Figure:
        return figure_of_items(entry.item for entry in self._stored)
