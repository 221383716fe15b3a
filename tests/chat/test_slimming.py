"""Slimming: old tool output goes, words stay, and rarely."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.chat.slimming import (
    CUT_BATCH_TURNS,
    CUT_FROM,
    CUT_KEEPS,
    DROPPED,
    HARD_CLEAR_AGE_TURNS,
    HARD_CLEAR_BATCH_TURNS,
    PROTECTED_TURNS,
    Need,
    clear_old_results,
    cut_results,
    next_cut,
    turns_of,
)
from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    SyntheticReason,
    ToolResultItem,
    UserItem,
    user_text,
)
from tests.chat.histories import assistant, prompt, result, stored

BIG = "x" * 10_000


def turns(count: int, text: str = BIG) -> list[ConversationItem]:
    """So many turns with one call each."""
    items: list[ConversationItem] = []
    for index in range(count):
        items += [prompt(f"p{index}", index), assistant(f"c{index}"), result(f"c{index}", text)]
    return items


def dropped(items: list[ConversationItem]) -> list[int]:
    """Which of the results, counted from 0, were dropped by the second layer."""
    results = [entry.item for entry in clear_old_results(stored(*items)).items]
    texts = [item.prompt_text for item in results if isinstance(item, ToolResultItem)]
    return [number for number, text in enumerate(texts) if text == DROPPED]


def test_only_real_prompts_begin_turns() -> None:
    items = [
        user_text("environment", reason=SyntheticReason.ENVIRONMENT),
        prompt("a", 0),
        user_text("go on", reason=SyntheticReason.GOAL_CONTINUATION, prompt_index=1),
        prompt("b", 2),
    ]
    assert turns_of(items) == [0, 1, 1, 2]


def test_nothing_is_dropped_before_the_oldest_result_is_a_batch_over_the_age() -> None:
    wait = HARD_CLEAR_AGE_TURNS + HARD_CLEAR_BATCH_TURNS
    assert dropped(turns(wait)) == []
    assert dropped(turns(wait + 1)) == list(range(HARD_CLEAR_BATCH_TURNS))


def test_injected_items_age_nothing() -> None:
    items = turns(HARD_CLEAR_AGE_TURNS + HARD_CLEAR_BATCH_TURNS)
    items += [user_text("tick", reason=SyntheticReason.SCHEDULED_PROMPT, prompt_index=99)] * 50
    assert dropped(items) == []


def test_a_result_shorter_than_the_text_in_its_place_stays() -> None:
    assert dropped(turns(40, text="ok")) == []


def test_dropping_keeps_call_status_and_spill_file() -> None:
    items = turns(40)
    items[2] = ToolResultItem("c0", BIG, BIG, "error", "/s/tool_output/0-1.txt")
    slim = clear_old_results(stored(*items)).items[2].item
    assert slim == ToolResultItem("c0", DROPPED, DROPPED, "error", "/s/tool_output/0-1.txt")


def test_rewriting_happens_once_in_a_batch_of_turns() -> None:
    history = stored()
    rewrites = 0
    for index in range(100):
        history += stored(prompt(f"p{index}", index), assistant(f"c{index}"), result(f"c{index}", BIG))
        slim = clear_old_results(history)
        rewrites += slim.changed > 0
        history = slim.items
    assert rewrites == 17  # at turn 16 and every fifth after it


def test_a_cut_result_keeps_head_and_tail_and_says_how_much_is_missing() -> None:
    text = "h" * CUT_KEEPS + "m" * 3_000 + "t" * CUT_KEEPS
    item = cut_results([prompt("a", 0), assistant("1"), result("1", text)], 1)[2]
    assert isinstance(item, ToolResultItem)
    assert item.prompt_text.startswith("h" * CUT_KEEPS + "\n[… 3000 characters")
    assert item.prompt_text.endswith("]\n" + "t" * CUT_KEEPS)
    assert item.output == text


def test_only_results_longer_than_4000_characters_are_cut() -> None:
    items: list[ConversationItem] = [prompt("a", 0), assistant("1"), result("1", "x" * CUT_FROM)]
    assert cut_results(items, 1) == items
    items[2] = result("1", "x" * (CUT_FROM + 1))
    assert cut_results(items, 1) != items


def test_results_of_later_turns_are_not_cut() -> None:
    items = turns(5)
    assert cut_results(items, 2)[6:] == items[6:]


def test_cutting_begins_only_over_half_of_the_window() -> None:
    assert next_cut(0, turns=10, need=Need(50.0, 50.0)) == 0
    assert next_cut(0, turns=10, need=Need(50.1, 50.1)) == 10 - PROTECTED_TURNS


def test_cutting_goes_on_in_steps_of_several_turns() -> None:
    need = Need(60.0, 80.0)
    assert next_cut(7, turns=7 + PROTECTED_TURNS + CUT_BATCH_TURNS - 1, need=need) == 7
    assert next_cut(7, turns=7 + PROTECTED_TURNS + CUT_BATCH_TURNS, need=need) == 7 + CUT_BATCH_TURNS


def test_what_was_cut_stays_cut_although_there_is_room_now() -> None:
    assert next_cut(7, turns=10, need=Need(30.0, 55.0)) == 7


def test_in_a_much_larger_window_nothing_is_cut() -> None:
    assert next_cut(7, turns=10, need=Need(10.0, 39.0)) == 0


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.integers(0, 8_000), max_size=30), st.integers(0, 30))
def test_words_and_protected_turns_are_never_touched(sizes: list[int], cut_turn: int) -> None:
    items: list[ConversationItem] = []
    for index, size in enumerate(sizes):
        items += [prompt("p" * size, index), assistant(f"c{index}", text="w" * size)]
        items.append(result(f"c{index}", "r" * size))
    cleared = [entry.item for entry in clear_old_results(stored(*items)).items]
    border = min(cut_turn, max(0, len(sizes) - PROTECTED_TURNS))
    slim = cut_results(cleared, border)
    words = [item for item in items if isinstance(item, UserItem | AssistantItem)]
    assert [item for item in slim if isinstance(item, UserItem | AssistantItem)] == words
    protected = 3 * PROTECTED_TURNS
    assert slim[-protected:] == items[-protected:]
