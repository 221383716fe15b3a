"""The conversation: a plain list of items and what may be done to it. No I/O, no asyncio."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from grokmini.chat.estimate import Figure, figure_of_item, sum_of_figures
from grokmini.chat.repair import STOPPED, RepairReport, is_paired, repair
from grokmini.chat.slimming import HARD_CLEAR_AGE_TURNS, clear_old_results
from grokmini.protocol.items import ConversationItem, Stored, SystemItem, UnknownItem, UserItem
from grokmini.protocol.turns import cut_before


class Repair(NamedTuple):
    """What a repair did. `appended` is what came to the end; None when older items were changed, too."""

    report: RepairReport
    appended: list[Stored] | None


class Conversation:
    """The history in order.

    `figure` is the estimate of all of it, kept up to date. `edition` counts the changes that did more than add
    at the end: what was derived from an older one has to be derived anew.
    """

    def __init__(self, stored: Iterable[Stored] = (), *, clear_age: int = HARD_CLEAR_AGE_TURNS) -> None:
        """`clear_age`: results older than so many real turns are dropped (`clear_old_results`)."""
        self._stored: list[Stored] = []
        self._figures: list[Figure] = []
        self._figure = Figure()
        self._next_prompt_index = 0
        self._paired = 0
        self._clear_age = clear_age
        self.edition = 0
        self._take(stored)

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
        return self._next_prompt_index

    def since(self, length: int) -> Iterator[tuple[ConversationItem, Figure]]:
        """The items after the first `length`, each with its estimate."""
        for place in range(length, len(self._stored)):
            yield self._stored[place].item, self._figures[place]

    def push(self, item: ConversationItem) -> Stored:
        """Add an item at the end."""
        stored = Stored(item)
        self._append(stored)
        return stored

    def replace(self, stored: Iterable[Stored]) -> None:
        """A whole new history. Indexes of prompts that were given out are not given out again."""
        self._take(stored)

    def replace_items(self, items: Sequence[ConversationItem]) -> None:
        """A whole new history of items that may be ones of this one: these keep the lines they were read from.

        Raises `ValueError` for an unknown item from elsewhere: nobody could write it.
        """
        known = {id(entry.item): entry for entry in self._stored}
        taken = [known.get(id(item)) or Stored(item) for item in items]
        if any(isinstance(entry.item, UnknownItem) and entry.raw is None for entry in taken):
            raise ValueError("an item of an unknown kind without the line it was read from")
        self._take(taken)

    def truncate(self, prompt_index: int) -> int:
        """Drop the turn of that index and all after it; how many items went. The index is free again."""
        place = cut_before(self.items, prompt_index)
        dropped = len(self._stored) - place
        if dropped:
            self._take(self._stored[:place])
            self._next_prompt_index = min(self._next_prompt_index, prompt_index)
        return dropped

    def restore(self, stored: Iterable[Stored], *, next_prompt_index: int) -> None:
        """The history of a snapshot, with its own count of prompts."""
        self._next_prompt_index = 0
        self._take(stored)
        self._next_prompt_index = max(self._next_prompt_index, next_prompt_index)

    def replace_system(self, text: str) -> bool:
        """Make this the system prompt. False when it already was."""
        first = self._stored[0].item if self._stored else None
        if isinstance(first, SystemItem):
            if first.text == text:
                return False
            self._take([Stored(SystemItem(text)), *self._stored[1:]])
        else:
            self._take([Stored(SystemItem(text)), *self._stored])
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
            if items[: len(before)] == before:
                appended = items[len(before) :]
                for stored in appended:
                    self._append(stored)
            else:
                appended = None
                self._take(items)
        self._paired = len(self._stored)
        return Repair(report, appended)

    def clear_old_results(self) -> int:
        """Drop results too old to matter (slimming, second layer); how many were dropped now."""
        slim = clear_old_results(self._stored, age=self._clear_age)
        if slim.changed:
            paired = self._paired
            self._take(slim.items)
            self._paired = paired
        return slim.changed

    def _append(self, stored: Stored) -> None:
        figure = figure_of_item(stored.item)
        self._stored.append(stored)
        self._figures.append(figure)
        self._figure = self._figure.plus(figure)
        self._count_prompt(stored.item)

    def _take(self, stored: Iterable[Stored]) -> None:
        known = {id(entry.item): figure for entry, figure in zip(self._stored, self._figures, strict=True)}
        self._stored = list(stored)
        self._figures = [known.get(id(entry.item)) or figure_of_item(entry.item) for entry in self._stored]
        self._figure = sum_of_figures(self._figures)
        for entry in self._stored:
            self._count_prompt(entry.item)
        self._paired = 0
        self.edition += 1

    def _count_prompt(self, item: ConversationItem) -> None:
        if isinstance(item, UserItem) and item.prompt_index is not None:
            self._next_prompt_index = max(self._next_prompt_index, item.prompt_index + 1)
