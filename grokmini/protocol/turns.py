"""Where one turn ends and the next begins: the only places at which a history may be cut.

A turn is the run of items from one that carries a `prompt_index` up to the next (spec: persistence.md, "Cuts fall
only between whole turns"). Fork, rewind and resuming a subagent all ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grokmini.protocol.items import ConversationItem, UserItem


class TurnStart(NamedTuple):
    """The prompt that starts a turn, and the position of its item in the history."""

    prompt_index: int
    position: int


def turn_starts(items: Sequence[ConversationItem]) -> list[TurnStart]:
    """Every turn of a history, oldest first."""
    return [
        TurnStart(item.prompt_index, position)
        for position, item in enumerate(items)
        if isinstance(item, UserItem) and item.prompt_index is not None
    ]


def cut_before(items: Sequence[ConversationItem], prompt_index: int) -> int:
    """How many items are older than the turn of that prompt.

    A prompt that is not there (a compaction took it away, or it was never asked) raises `ValueError` naming those
    that are.
    """
    starts = turn_starts(items)
    for start in starts:
        if start.prompt_index == prompt_index:
            return start.position
    known = f"{starts[0].prompt_index} to {starts[-1].prompt_index}" if starts else "none"
    raise ValueError(f"no turn of prompt {prompt_index} in the history; there is {known}")
