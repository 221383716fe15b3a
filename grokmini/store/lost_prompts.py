"""What a person asked outlives damage of the history: prompts it lost are taken from the record of events.

Both files hold every acknowledged prompt. A history that is cut, or has bad lines, gets the missing ones back in
their places; of a turn that is gone as a whole, the last reply, too.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from grokmini.files.regular import open_regular
from grokmini.protocol.events import TurnEnded, TurnStarted
from grokmini.protocol.items import (
    AssistantItem,
    Stored,
    SyntheticReason,
    UnknownItem,
    UserItem,
    user_text,
)
from grokmini.protocol.turns import turn_starts
from grokmini.store.jsonl import read_jsonl
from grokmini.store.layout import HISTORY, UPDATES
from grokmini.store.lines import read_item
from grokmini.store.set_aside import refusal
from grokmini.store.summary import Summary
from grokmini.store.updates import TURN_ENDED, TURN_STARTED, read_event, start_of_last_turns

TEXT_LIMIT = 25_000
"""Characters of a prompt that come back; longer ones were cut in the history, too (`prompts/` has the whole)."""


class History(NamedTuple):
    """A session's conversation as it could be read.

    `skipped` lines could not be, and are in `*.corrupt` if `kept`; `restored` prompts are from the events.
    """

    values: list[Stored]
    skipped: int
    kept: bool
    restored: int


class _Turn(NamedTuple):
    """A turn as the events tell of it."""

    asked: str
    reply: str = ""


class _Lost(NamedTuple):
    """A prompt that the history lacks, and before which of its items it was. `whole`: nothing is left of its turn."""

    prompt_index: int
    place: int
    whole: bool


def read_history(directory: Path, summary: Summary | None, *, keep_damaged: bool = True) -> History:
    """The history of a session, with the prompts that damage took from it. Nothing is written but the copy of a
    damaged file (`read_jsonl`). Raises `OSError` when it cannot be read at all.

    The events are looked at only where the history shows damage or ends before the last prompt of the summary.
    """
    read = read_jsonl(directory / HISTORY, read_item, keep_damaged=keep_damaged)
    starts = {start.prompt_index: start.position for start in turn_starts([s.item for s in read.values])}
    following = max(starts, default=-1) + 1
    strange = [place for place, stored in enumerate(read.values) if isinstance(stored.item, UnknownItem)]
    is_doubtful = bool(read.places or strange) or summary is None or summary.turns > following
    is_compacted = _is_compacted(read.values)
    if not is_doubtful or (is_compacted and not starts):
        return History(read.values, read.skipped, read.kept, 0)
    oldest = min(starts) if is_compacted else 0
    first = next(index for index in range(oldest, following + 1) if index not in starts)
    told = _turns_since(directory / UPDATES, first)
    missing = [index for index in sorted(told) if index >= first and index not in starts]
    doubtful = sorted({*read.places, *strange})
    lost = sorted(_places(missing, starts, doubtful, len(read.values)), key=lambda prompt: prompt.place)
    return History(_filled(read.values, lost, told), read.skipped, read.kept, len(lost))


def _is_compacted(history: Sequence[Stored]) -> bool:
    """Whether older prompts are not missing but summed up."""
    return any(
        isinstance(stored.item, UserItem) and stored.item.synthetic_reason is SyntheticReason.COMPACTION_SUMMARY
        for stored in history
    )


def _turns_since(path: Path, prompt_index: int) -> dict[int, _Turn]:
    """The turns from that prompt on, by index, as the events tell them; those before are read as seldom as can be.

    Of one that was asked again after a rewind, the last time counts, and nothing that it did away with.
    """
    if refusal(path) is not None:
        return {}
    turns = 1
    while True:
        start = start_of_last_turns(path, turns)
        found = _turns_from(path, start)
        if not start or min(found, default=prompt_index + 1) <= prompt_index:
            return found
        turns *= 4


def _turns_from(path: Path, offset: int) -> dict[int, _Turn]:
    found: dict[int, _Turn] = {}
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return found
    with file:
        file.seek(offset)
        for line in file:
            if TURN_STARTED not in line and TURN_ENDED not in line:
                continue
            record = read_event(line)
            event = record.event if record is not None else None
            if isinstance(event, TurnStarted):
                found = {index: turn for index, turn in found.items() if index < event.prompt_index}
                found[event.prompt_index] = _Turn(event.text)
            elif isinstance(event, TurnEnded) and event.prompt_index in found:
                found[event.prompt_index] = found[event.prompt_index]._replace(reply=event.text)
    return found


class _Gap(NamedTuple):
    """The places between the prompts on either side of one that is missing."""

    begin: int
    end: int


def _places(
    missing: Sequence[int], starts: Mapping[int, int], doubtful: Sequence[int], size: int
) -> Iterator[_Lost]:
    """Where missing prompts belong: where lines are bad or of no known kind, or at the end.

    Between prompts with nothing of that kind between them none was lost: it may have been summed up.
    """
    known = sorted(starts)

    def gap_of(index: int) -> _Gap:
        above = bisect(known, index)
        return _Gap(
            starts[known[above - 1]] if above else -1, starts[known[above]] if above < len(known) else size
        )

    for gap, indexes in groupby(missing, gap_of):
        free = [place for place in doubtful if gap.begin < place <= gap.end]
        if not free and gap.end < size:
            continue
        free = free or [size]
        last = len(free) - 1
        for number, index in enumerate(here := list(indexes), 1):
            place = free[min(number - 1, last)]
            following = free[min(number, last)] if number < len(here) else gap.end
            yield _Lost(index, place, whole=place == following)


def _filled(history: Sequence[Stored], lost: Sequence[_Lost], told: Mapping[int, _Turn]) -> list[Stored]:
    filled: list[Stored] = []
    done = 0
    for prompt in lost:
        filled += history[done : prompt.place]
        done = prompt.place
        turn = told[prompt.prompt_index]
        filled.append(Stored(user_text(_short(turn.asked), prompt_index=prompt.prompt_index)))
        if prompt.whole and turn.reply:
            filled.append(Stored(AssistantItem(turn.reply)))
    return [*filled, *history[done:]]


def _short(text: str) -> str:
    """As much of a prompt as a history holds of it."""
    if len(text) <= TEXT_LIMIT:
        return text
    half = TEXT_LIMIT // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters left out here …]\n{text[-half:]}"
