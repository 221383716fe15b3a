"""A history is cut between whole turns and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    SyntheticReason,
    SystemItem,
    ToolCall,
    ToolResultItem,
    UnknownItem,
    UserItem,
    user_text,
)
from grokmini.protocol.turns import cut_before, turn_starts
from tests.chat.histories import refusal

REASONS = [None, SyntheticReason.SCHEDULED_PROMPT, SyntheticReason.BACKGROUND_TASK_DONE]

preludes: st.SearchStrategy[list[ConversationItem]] = st.lists(
    st.sampled_from(
        [
            user_text("rules", reason=SyntheticReason.PROJECT_INSTRUCTIONS),
            user_text("summary", reason=SyntheticReason.COMPACTION_SUMMARY),
            UnknownItem("hologram"),
        ]
    ),
    max_size=3,
)


@st.composite
def turns(draw: st.DrawFn, index: int) -> list[ConversationItem]:
    """A whole turn: what starts it, rounds of calls with their results, words of the person in between, an end."""
    items: list[ConversationItem] = [user_text("x", reason=draw(st.sampled_from(REASONS)), prompt_index=index)]
    for number in range(draw(st.integers(0, 3))):
        ids = [f"{index}-{number}-{call}" for call in range(draw(st.integers(1, 2)))]
        items.append(AssistantItem("", tuple(ToolCall(call_id, "grep", "{}") for call_id in ids)))
        items += [ToolResultItem(call_id, "", "") for call_id in ids]
        if draw(st.booleans()):
            items.append(user_text("and", reason=SyntheticReason.INTERJECTION))
    if draw(st.booleans()):
        items.append(AssistantItem("done"))
    return items


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[ConversationItem], list[int]]:
    """A history and the numbers of its turns; a compaction or a rewind may have left gaps."""
    numbers = draw(st.lists(st.integers(0, 30), unique=True, max_size=6).map(sorted))
    items: list[ConversationItem] = [SystemItem("s")] if draw(st.booleans()) else []
    items += draw(preludes)
    for number in numbers:
        items += draw(turns(number))
    return items, numbers


@settings(max_examples=100)
@given(histories())
def test_every_cut_leaves_whole_turns_and_loses_none_that_is_older(
    history: tuple[list[ConversationItem], list[int]],
) -> None:
    items, numbers = history
    assert [start.prompt_index for start in turn_starts(items)] == numbers
    for place, number in enumerate(numbers):
        cut = cut_before(items, number)
        first = items[cut]
        assert isinstance(first, UserItem)
        assert first.prompt_index == number
        assert [start.prompt_index for start in turn_starts(items[:cut])] == numbers[:place]
        assert [start.prompt_index for start in turn_starts(items[cut:])] == numbers[place:]
        assert not refusal(items[:cut]), "no call is cut from its result"


@settings(max_examples=50)
@given(histories(), st.integers(-3, 40))
def test_a_turn_that_is_not_there_is_no_place_to_cut_at(
    history: tuple[list[ConversationItem], list[int]], number: int
) -> None:
    items, numbers = history
    if number in numbers:
        return
    known = f"{numbers[0]} to {numbers[-1]}" if numbers else "none"
    with pytest.raises(ValueError, match=f"no turn of prompt {number} .* there is {known}$"):
        cut_before(items, number)


def test_what_the_person_says_within_a_turn_starts_none() -> None:
    items: list[ConversationItem] = [
        user_text("hello", prompt_index=4),
        user_text("by the way", reason=SyntheticReason.INTERJECTION),
        user_text("! ls", reason=SyntheticReason.SHELL_ESCAPE),
    ]
    assert turn_starts(items) == [(4, 0)]
