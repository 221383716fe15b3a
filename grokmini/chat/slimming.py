"""Old tool output weighs most and matters least: two of the three layers of slimming (spec: chat-state.md).

The second layer rewrites the stored history, by age. The third cuts a request's copy, by need. Both work in
batches, so that a provider's prompt cache is broken now and then, not every turn. The user's and the model's
own words are never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from grokmini.protocol.codec import with_fields
from grokmini.protocol.items import ConversationItem, Stored, ToolResultItem, UserItem
from grokmini.text.tokens import is_reached

HARD_CLEAR_AGE_TURNS = 10
"""Results older than so many real turns are dropped."""

HARD_CLEAR_BATCH_TURNS = 5
"""Dropping waits until the oldest result is so many turns over the age, then takes all that are over it."""

PROTECTED_TURNS = 3
"""Results of so many last real turns are never cut in a request."""

CUT_ABOVE_CHARACTERS = 4_000
"""Older results longer than this are cut."""

CUT_KEEPS = 1_500
"""Characters that stay at either end."""

CUT_BATCH_TURNS = 5

DROPPED = "[This result was dropped because it is old. If you need it, run the tool again.]"


class Slimmed(NamedTuple):
    """A history with less in it, and how many items were changed."""

    items: list[Stored]
    changed: int


def turns_of(items: Sequence[ConversationItem]) -> list[int]:
    """For every item the number of the real turn it belongs to, from 1; 0 before the first.

    Only what a person asked begins a turn: injected items age nothing.
    """
    turn = 0
    turns = []
    for item in items:
        if isinstance(item, UserItem) and item.is_real_prompt:
            turn += 1
        turns.append(turn)
    return turns


def clear_old_results(
    stored: Sequence[Stored],
    *,
    age: int = HARD_CLEAR_AGE_TURNS,
    batch: int = HARD_CLEAR_BATCH_TURNS,
) -> Slimmed:
    """Replace results older than `age` real turns by a fixed text, once the oldest is `batch` turns over it.

    An age below that of the protected turns counts as theirs.
    """
    age = max(age, PROTECTED_TURNS)
    turns = turns_of([entry.item for entry in stored])
    newest = turns[-1] if turns else 0
    old = [
        place for place, entry in enumerate(stored) if newest - turns[place] > age and _has_weight(entry.item)
    ]
    if not old or newest - turns[old[0]] < age + batch:
        return Slimmed(list(stored), 0)
    slim = list(stored)
    for place in old:
        slim[place] = with_fields(stored[place], output=DROPPED, prompt_text=DROPPED)
    return Slimmed(slim, len(old))


def _has_weight(item: ConversationItem) -> bool:
    return isinstance(item, ToolResultItem) and max(len(item.prompt_text), len(item.output)) > len(DROPPED)


def is_long(item: ToolResultItem) -> bool:
    """Whether a result is long enough to be cut."""
    return len(item.prompt_text) > CUT_ABOVE_CHARACTERS


def cut_result(item: ToolResultItem) -> ToolResultItem:
    """Head and tail of a long result, with a marker that says how much is missing."""
    text = item.prompt_text
    omitted = len(text) - 2 * CUT_KEEPS
    marker = f"\n[… {omitted} characters of this old result left out; run the tool again to see them …]\n"
    return msgspec.structs.replace(item, prompt_text=text[:CUT_KEEPS] + marker + text[-CUT_KEEPS:])


class Need(NamedTuple):
    """Tokens with what is cut now, and with nothing cut, and the window they have to fit in."""

    tokens: int
    uncut: int
    window: int


CUT_FROM = 50.0
"""Percent of the window from which on old results are cut."""

UNCUT_BELOW = 40.0
"""Percent of the window below which everything is sent whole again."""


def next_cut(current: int, *, turns: int, need: Need) -> int:
    """Up to which real turn results are cut from now on, given up to which they are cut now.

    Cutting goes on only in steps of several turns, and is given up only when there is plenty of room (a model
    with a larger window, say): in between the text that was sent stays the text that is sent.
    """
    if not is_reached(need.uncut, need.window, UNCUT_BELOW):
        return 0
    reachable = max(0, turns - PROTECTED_TURNS)
    current = min(current, reachable)
    first = current == 0
    if is_reached(need.tokens, need.window, CUT_FROM) and (first or reachable - current >= CUT_BATCH_TURNS):
        return reachable
    return current
