"""Slimming: old tool output goes, words stay, and rarely."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.chat.estimate import figure_of_item
from grokmini.chat.request import CopyState, RequestCopy
from grokmini.chat.slimming import (
    CUT_ABOVE_CHARACTERS,
    CUT_BATCH_TURNS,
    CUT_KEEPS,
    DROPPED,
    HARD_CLEAR_AGE_TURNS,
    HARD_CLEAR_BATCH_TURNS,
    PROTECTED_TURNS,
    Need,
    clear_old_results,
    cut_result,
    is_long,
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
from tests.chat.histories import MODEL, assistant, prompt, result, stored

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
    item = cut_result(result("1", text))
    assert item.prompt_text.startswith("h" * CUT_KEEPS + "\n[… 3000 characters")
    assert item.prompt_text.endswith("]\n" + "t" * CUT_KEEPS)
    assert item.output == text


def test_only_results_longer_than_4000_characters_are_cut() -> None:
    assert not is_long(result("1", "x" * CUT_ABOVE_CHARACTERS))
    assert is_long(result("1", "x" * (CUT_ABOVE_CHARACTERS + 1)))


def test_an_age_below_the_protected_turns_counts_as_theirs() -> None:
    slim = clear_old_results(stored(*turns(20)), age=1, batch=0)
    kept = [entry.item for entry in slim.items if isinstance(entry.item, ToolResultItem)][
        -PROTECTED_TURNS - 1 :
    ]
    assert all(isinstance(item, ToolResultItem) and item.prompt_text == BIG for item in kept)


def test_cutting_begins_at_half_of_the_window() -> None:
    assert next_cut(0, turns=10, need=Need(499, 499, 1_000)) == 0
    assert next_cut(0, turns=10, need=Need(500, 500, 1_000)) == 10 - PROTECTED_TURNS


def test_cutting_goes_on_in_steps_of_several_turns() -> None:
    need = Need(600, 800, 1_000)
    assert next_cut(7, turns=7 + PROTECTED_TURNS + CUT_BATCH_TURNS - 1, need=need) == 7
    assert next_cut(7, turns=7 + PROTECTED_TURNS + CUT_BATCH_TURNS, need=need) == 7 + CUT_BATCH_TURNS


def test_what_was_cut_stays_cut_although_there_is_room_now() -> None:
    assert next_cut(7, turns=10, need=Need(300, 550, 1_000)) == 7


def test_in_a_much_larger_window_nothing_is_cut() -> None:
    assert next_cut(7, turns=10, need=Need(100, 390, 1_000)) == 0


@settings(max_examples=60)
@given(st.lists(st.integers(0, 8_000), max_size=30), st.integers(1, 60_000))
def test_words_and_protected_turns_are_never_touched(sizes: list[int], window: int) -> None:
    items: list[ConversationItem] = []
    for index, size in enumerate(sizes):
        items += [prompt("p" * size, index), assistant(f"c{index}", text="w" * size)]
        items.append(result(f"c{index}", "r" * size))
    cleared = [entry.item for entry in clear_old_results(stored(*items)).items]
    model = msgspec.structs.replace(MODEL, context_window=window)
    copy = RequestCopy(model, [(item, figure_of_item(item)) for item in cleared], CopyState())
    slim = copy.build(request_id="r", model=model, tools=(), conversation_id="c", factor=None).items
    words = [item for item in items if isinstance(item, UserItem | AssistantItem)]
    assert [item for item in slim if isinstance(item, UserItem | AssistantItem)] == words
    protected = 3 * PROTECTED_TURNS
    assert list(slim[-protected:]) == items[-protected:]
