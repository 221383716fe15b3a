"""What a conversation costs, and how the estimate learns."""

from __future__ import annotations

import msgspec
import pytest

from grokmini.chat.estimate import (
    FACTOR_LEAST,
    FACTOR_MOST,
    IMAGE_TOKENS,
    Factors,
    Figure,
    figure_of_item,
    figure_of_tools,
    learn,
)
from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ImagePart,
    ReasoningItem,
    TextPart,
    ToolCall,
    ToolResultItem,
    UnknownItem,
    UserItem,
)
from grokmini.protocol.tools import ToolSpec


def test_a_call_costs_its_name_and_arguments() -> None:
    item = AssistantItem("12345678", (ToolCall("id", "grep", '{"pattern":"x"}'),))
    assert figure_of_item(item) == Figure(2 + 1 + 4, 2 + 1 + 4)


def test_a_result_costs_what_the_model_reads() -> None:
    assert figure_of_item(ToolResultItem("1", output="x" * 400, prompt_text="x" * 40)).plain == 10


def test_an_image_costs_a_fixed_amount() -> None:
    item = UserItem((TextPart("look"), ImagePart("image/png", "A" * 100_000)))
    assert figure_of_item(item).plain == 1 + IMAGE_TOKENS


def test_opaque_parts_cost_their_bytes_and_unknown_items_nothing() -> None:
    assert figure_of_item(ReasoningItem("abcd", opaque=msgspec.Raw(b'"' + b"x" * 38 + b'"'))).plain == 1 + 10
    assert figure_of_item(BackendToolCallItem("m", msgspec.Raw(b"{}"))).plain == 1
    assert figure_of_item(UnknownItem("hologram")) == Figure()


def test_tools_cost_the_json_they_are_sent_in() -> None:
    tool = ToolSpec("grep", "Search.", msgspec.Raw(b'{"type":"object"}'))
    assert figure_of_tools((tool, tool)).plain == 2 * -(-len(msgspec.json.encode(tool)) // 4)


def test_without_a_report_dense_text_is_counted_carefully_and_with_one_by_the_factor() -> None:
    figure = figure_of_item(UserItem((TextPart("漢" * 100),)))
    assert figure.corrected(None) == 100
    assert figure.corrected(2.0) == 150


def test_the_first_report_sets_the_factor_and_later_ones_move_it() -> None:
    factors = Factors()
    assert factors.of("m") is None
    assert factors.learn("m", reported=200, estimated=100) == 2.0
    assert factors.learn("m", reported=100, estimated=100) == pytest.approx(1.7)
    assert factors.of("other") is None


@pytest.mark.parametrize(("reported", "factor"), [(1, FACTOR_LEAST), (10_000, FACTOR_MOST)])
def test_a_factor_stays_within_bounds(reported: int, factor: float) -> None:
    assert learn(None, reported=reported, estimated=100) == factor
    assert Factors({"m": float(reported)}).of("m") == min(max(reported, FACTOR_LEAST), FACTOR_MOST)


def test_a_report_of_nothing_teaches_nothing() -> None:
    assert learn(1.5, reported=0, estimated=100) == 1.5
    assert learn(1.5, reported=100, estimated=0) == 1.5
