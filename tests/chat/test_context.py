"""What the next request is made of."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.chat.chat_state import ChatState
from grokmini.chat.context import CATEGORIES, Category, share_out
from grokmini.chat.estimate import IMAGE_TOKENS
from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    SyntheticReason,
    SystemItem,
    TextPart,
    UnknownItem,
    UserItem,
    user_text,
)
from grokmini.protocol.model import Supports, Usage
from grokmini.protocol.tools import ToolSpec
from tests.chat.histories import MODEL, assistant, prompt, result, stored
from tests.chat.test_request import full_window

SEES = msgspec.structs.replace(MODEL, supports=Supports(images=True), context_window=10_000)
TOOL = ToolSpec("grep", "Search.", msgspec.Raw(b'{"type":"object"}'))
ITEMS: tuple[ConversationItem, ...] = (
    SystemItem("s" * 400),
    user_text("e" * 80, reason=SyntheticReason.ENVIRONMENT),
    user_text("i" * 120, reason=SyntheticReason.PROJECT_INSTRUCTIONS),
    UserItem((TextPart("p" * 40), ImagePart("image/png", "AAAA")), prompt_index=0),
    user_text("n" * 20, reason=SyntheticReason.SYSTEM_REMINDER),
    ReasoningItem("r" * 160, model="demo"),
    ReasoningItem("x" * 4_000, model="other"),
    BackendToolCallItem("demo", msgspec.Raw(b'{"a":"' + b"b" * 32 + b'"}')),
    assistant("1", text="w" * 60),
    result("1", "t" * 200),
    UnknownItem("hologram"),
)


def test_every_category_counts_what_is_sent_and_the_sum_is_the_total() -> None:
    state = ChatState([])
    for item in ITEMS:
        state.push(item)
    report = state.context(SEES, (TOOL,))
    tools = -(-len(msgspec.json.encode(TOOL)) // 4)
    assert {part.category: part.tokens for part in report.parts} == {
        "system": 100,
        "tools": tools,
        "environment": 20,
        "instructions": 30,
        "prompts": 10,
        "notes": 5,
        "replies": 15 + 2,
        "reasoning": 40,
        "tool results": 50 + 10,
        "images": IMAGE_TOKENS,
    }
    assert report.tokens == sum(part.tokens for part in report.parts)
    assert (report.model, report.window, report.items) == ("demo", 10_000, 9)
    assert (report.free, report.percent) == (10_000 - report.tokens, report.tokens / 100)


def test_the_figures_are_the_corrected_ones_that_are_shown_elsewhere() -> None:
    state = ChatState(stored(prompt("x" * 400, 0)))
    state.build(request_id="r", model=MODEL, tools=(), conversation_id="c")
    state.push(AssistantItem("y" * 40))
    state.record_usage("demo", Usage(calls=1, input=200, output=20), None)
    report = state.context(MODEL, ())
    assert report.tokens == state.tokens(()) == 220
    assert {part.category: part.tokens for part in report.parts if part.tokens} == {
        "prompts": 200,
        "replies": 20,
    }


def test_results_are_counted_as_they_are_cut_and_asking_changes_nothing() -> None:
    small = msgspec.structs.replace(MODEL, context_window=50_000)
    state = ChatState(stored(*full_window(6)))
    whole = state.context(small, ()).tokens
    sent = state.build(request_id="r", model=small, tools=(), conversation_id="c")
    assert state.context(small, ()).tokens < whole
    assert state.context(msgspec.structs.replace(MODEL, name="other"), ()).model == "other"
    assert state.build(request_id="r", model=small, tools=(), conversation_id="c") == sent


def test_an_empty_conversation_has_every_category_at_nothing() -> None:
    report = ChatState([]).context(MODEL, ())
    assert [part.category for part in report.parts] == list(CATEGORIES)
    assert report.tokens == 0


@settings(max_examples=100)
@given(
    st.lists(st.integers(0, 10**7), min_size=len(CATEGORIES), max_size=len(CATEGORIES)), st.integers(0, 10**7)
)
def test_shares_are_whole_never_negative_and_add_up(figures: list[int], total: int) -> None:
    named: dict[Category, int] = dict(zip(CATEGORIES, figures, strict=True))
    parts = share_out(named, total)
    assert all(part.tokens >= 0 for part in parts)
    assert sum(part.tokens for part in parts) == (total if any(figures) else 0)
