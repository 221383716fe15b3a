"""Repair: what every wire format demands of calls and results."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.chat.repair import ENDED, STOPPED, RepairReport, is_paired, repair
from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    ReasoningItem,
    Stored,
    SyntheticReason,
    SystemItem,
    ToolResultItem,
    UnknownItem,
    user_text,
)
from tests.chat.histories import assistant, prompt, refusal, result, stored


def repaired(*items: ConversationItem) -> tuple[list[ConversationItem], RepairReport]:
    """Repair and give back the bare items."""
    outcome = repair(stored(*items))
    return [entry.item for entry in outcome.items], outcome.report


def test_a_valid_history_is_left_as_it_is() -> None:
    items = (
        SystemItem("s"),
        prompt("a", 0),
        assistant("1", "2"),
        result("1"),
        result("2"),
        assistant(text="x"),
    )
    assert repaired(*items) == (list(items), RepairReport())


def test_a_dangling_call_gets_a_result_that_says_it_was_interrupted() -> None:
    items, report = repaired(prompt("a", 0), assistant("1", "2"), result("1"))
    assert items[2:] == [result("1"), ToolResultItem("2", STOPPED, STOPPED, "cancelled")]
    assert report == RepairReport(results_added=1)
    assert report.reasons == ("interrupted call given a result (1)",)


def test_of_two_results_for_a_call_the_first_stays() -> None:
    items, report = repaired(assistant("1"), result("1", "first"), result("1", "second"))
    assert items == [assistant("1"), result("1", "first")]
    assert report == RepairReport(duplicates_removed=1)


def test_a_result_without_a_call_before_it_is_removed() -> None:
    items, report = repaired(result("9"), prompt("a", 0), assistant("1"), result("1"))
    assert items == [prompt("a", 0), assistant("1"), result("1")]
    assert report == RepairReport(orphans_removed=1)


def test_results_come_in_the_order_of_the_calls() -> None:
    items, report = repaired(assistant("1", "2", "3"), result("3"), result("1"), result("2"))
    assert items == [assistant("1", "2", "3"), result("1"), result("2"), result("3")]
    assert report.results_moved == 3


def test_what_stands_between_a_call_and_its_result_comes_after_it() -> None:
    word = user_text("faster", reason=SyntheticReason.INTERJECTION)
    items, _ = repaired(assistant("1", "2"), result("1"), word, result("2"))
    assert items == [assistant("1", "2"), result("1"), result("2"), word]


def test_reasoning_stays_before_the_reply_it_led_to() -> None:
    first, second = ReasoningItem("a"), ReasoningItem("b")
    items, _ = repaired(first, assistant("1"), second, assistant("2"), result("1"), result("2"))
    assert items == [first, assistant("1"), result("1"), second, assistant("2"), result("2")]


def test_a_server_may_use_the_same_id_again_in_a_later_reply() -> None:
    items, report = repaired(
        assistant("c"), result("c", "old"), prompt("b", 1), assistant("c"), result("c", "new")
    )
    assert [item.output for item in items if isinstance(item, ToolResultItem)] == ["old", "new"]
    assert not report.changed


def test_a_call_that_reuses_an_answered_id_does_not_take_the_old_result() -> None:
    items, report = repaired(assistant("c"), result("c", "old"), assistant("c"))
    assert items[1] == result("c", "old")
    assert items[3] == ToolResultItem("c", STOPPED, STOPPED, "cancelled")
    assert report == RepairReport(results_added=1)


def test_two_calls_with_one_id_in_a_reply_each_have_a_result() -> None:
    items, report = repaired(assistant("c", "c"), result("c", "one"), result("c", "two"))
    assert not report.changed
    items, report = repaired(assistant("c", "c"), result("c", "one"))
    assert len(items) == 3
    assert report == RepairReport(results_added=1)


def test_kept_items_keep_the_lines_they_were_read_from() -> None:
    read = Stored(prompt("a", 0), b'{"type":"user","from":"the future"}')
    items = repair([read, Stored(assistant("1"))]).items
    assert items[0] is read


CALL_IDS = st.sampled_from(["a", "b", "c"])
ANY_ITEM: st.SearchStrategy[ConversationItem] = st.one_of(
    st.just(prompt("p", 0)),
    st.just(user_text("word", reason=SyntheticReason.INTERJECTION)),
    st.just(ReasoningItem("hm")),
    st.just(UnknownItem("hologram")),
    st.just(AssistantItem("done")),
    st.lists(CALL_IDS, min_size=1, max_size=3).map(lambda ids: assistant(*ids)),
    st.tuples(CALL_IDS, st.sampled_from(["x", "y"])).map(lambda pair: result(*pair)),
)


@settings(max_examples=300)
@given(st.lists(ANY_ITEM, max_size=14))
def test_any_history_is_valid_after_repair_and_repairing_again_changes_nothing(
    items: list[ConversationItem],
) -> None:
    before = stored(*items)
    once = repair(before)
    after = [entry.item for entry in once.items]
    assert refusal(after) == ""
    assert is_paired(once.items)
    assert once.report.changed == (after != items)
    assert repair(once.items) == (once.items, RepairReport())
    kept = [item for item in items if not isinstance(item, ToolResultItem)]
    assert [item for item in after if not isinstance(item, ToolResultItem)] == kept
    removed = once.report.duplicates_removed + once.report.orphans_removed
    assert len(after) == len(items) - removed + once.report.results_added


@pytest.mark.parametrize("text", [STOPPED, ENDED])
def test_what_is_said_of_a_call_without_a_result_claims_nothing_that_is_not_known(text: str) -> None:
    assert "may have run in part, wholly or not at all" in text
    assert "check the present state before you repeat it" in text
    assert ("because grokmini ended" in text) == (text is ENDED)
