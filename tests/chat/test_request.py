"""From history to request: what a model gets to read."""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.chat.estimate import Figure, figure_of_item, sum_of_figures
from grokmini.chat.images import BODY_HIGH, GONE
from grokmini.chat.request import CopyState, RequestCopy
from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    SyntheticReason,
    SystemItem,
    TextPart,
    ToolResultItem,
    UnknownItem,
    UserItem,
    user_text,
)
from grokmini.protocol.model import ModelRequest, ModelSpec, Supports
from grokmini.protocol.tools import ToolSpec
from tests.chat.histories import MODEL, assistant, prompt, result
from tests.chat.wire_formats import request_refusal

WHOLE = CopyState()
SEES = msgspec.structs.replace(MODEL, supports=Supports(images=True))


def counted(items: Sequence[ConversationItem]) -> list[tuple[ConversationItem, Figure]]:
    """Items with their estimates."""
    return [(item, figure_of_item(item)) for item in items]


def figure_of_items(items: Sequence[ConversationItem]) -> Figure:
    """What several items are estimated at."""
    return sum_of_figures(map(figure_of_item, items))


def build(copy: RequestCopy, *, model: ModelSpec = MODEL, tools: tuple[ToolSpec, ...] = ()) -> ModelRequest:
    """Build with nothing known of the model."""
    return copy.build(request_id="r", model=model, tools=tools, conversation_id="c", factor=None)


def request(
    *items: ConversationItem, model: ModelSpec = MODEL, state: CopyState = WHOLE
) -> tuple[ModelRequest, CopyState]:
    """Build a request without tools."""
    copy = RequestCopy(model, counted(items), state)
    return build(copy, model=model), copy.state


def test_items_tools_and_ids_are_handed_over() -> None:
    tool = ToolSpec("grep", "Search.", msgspec.Raw(b"{}"))
    items = (SystemItem("s"), prompt("a", 0))
    sent = build(RequestCopy(MODEL, counted(items), WHOLE), tools=(tool,))
    assert sent == ModelRequest("r", MODEL, items, (tool,), conversation_id="c")


def test_reasoning_and_backend_calls_go_only_to_the_model_they_came_from() -> None:
    own = (ReasoningItem("a", model="demo-1"), BackendToolCallItem("demo", msgspec.Raw(b"{}")))
    foreign = (ReasoningItem("b", model="other"), BackendToolCallItem("other", msgspec.Raw(b"{}")))
    sent, _ = request(prompt("a", 0), *own, *foreign, AssistantItem("x"))
    assert sent.items == (prompt("a", 0), *own, AssistantItem("x"))


def test_items_that_say_nothing_to_a_model_are_left_out() -> None:
    sent, _ = request(prompt("a", 0), UnknownItem("hologram"), AssistantItem(), UserItem(()), prompt("b", 1))
    assert sent.items == (prompt("a", 0), prompt("b", 1))


def test_only_the_first_item_may_be_a_system_prompt() -> None:
    """Files that were put together by hand may hold several; some servers refuse them."""
    sent, _ = request(SystemItem("be brief"), prompt("a", 0), SystemItem("be long"), prompt("b", 1))
    assert sent.items == (SystemItem("be brief"), prompt("a", 0), prompt("b", 1))
    assert not request_refusal(sent.items)


def test_a_model_that_cannot_see_is_told_where_images_were() -> None:
    picture = UserItem((ImagePart("image/png", "AAAA"),), prompt_index=0)
    blind, _ = request(picture)
    seeing, _ = request(picture, model=SEES)
    assert seeing.items == (picture,)
    (item,) = blind.items
    assert isinstance(item, UserItem)
    assert item.content == (TextPart("[An image was here. This model cannot see images.]"),)


def full_window(turns: int) -> list[ConversationItem]:
    """Turns that fill a small window."""
    items: list[ConversationItem] = []
    for index in range(turns):
        items += [prompt("p", index), assistant(f"c{index}"), result(f"c{index}", "r" * 20_000)]
    return items


def lengths(sent: ModelRequest) -> list[int]:
    """How long the results in a request are."""
    return [len(item.prompt_text) for item in sent.items if isinstance(item, ToolResultItem)]


def test_over_half_of_the_window_old_results_are_cut_in_the_request_alone() -> None:
    small = msgspec.structs.replace(MODEL, context_window=50_000)
    items = full_window(6)
    sent, state = request(*items, model=small)
    assert [length < 4_000 for length in lengths(sent)] == [True] * 3 + [False] * 3
    assert state.cut_turn == 3
    assert items == full_window(6)


def test_the_next_request_is_cut_the_same_way_so_that_its_prefix_is_the_same() -> None:
    small = msgspec.structs.replace(MODEL, context_window=50_000)
    first, state = request(*full_window(6), model=small)
    second, after = request(*full_window(7), model=small, state=state)
    assert second.items[: len(first.items)] == first.items
    assert after == state


def test_a_larger_window_gets_everything_again() -> None:
    small = msgspec.structs.replace(MODEL, context_window=50_000)
    _, state = request(*full_window(6), model=small)
    sent, after = request(*full_window(6), state=state)
    assert min(lengths(sent)) == 20_000
    assert after.cut_turn == 0


def test_the_figure_of_a_request_is_that_of_what_is_sent() -> None:
    small = msgspec.structs.replace(MODEL, context_window=50_000)
    tool = ToolSpec("grep", "Search.", msgspec.Raw(b"{}"))
    items = [*full_window(6), ReasoningItem("x" * 400, model="other"), UnknownItem("hologram")]
    copy = RequestCopy(small, counted(items), WHOLE)
    sent = build(copy, model=small, tools=(tool,))
    assert copy.figure == figure_of_items(sent.items)
    assert copy.figure.plain < figure_of_items(items).plain


def test_reasoning_that_led_to_no_reply_is_left_out() -> None:
    sent, _ = request(ReasoningItem("a"), prompt("a", 0), AssistantItem("x"), ReasoningItem("b"))
    assert sent.items == (prompt("a", 0), AssistantItem("x"))


def test_an_id_that_a_server_uses_again_is_sent_under_another_name() -> None:
    items = (
        prompt("a", 0),
        assistant("c"),
        result("c", "1"),
        assistant("c", "c"),
        result("c", "2"),
        result("c", "3"),
    )
    sent, _ = request(*items)
    assert sent.items[2] == items[2]
    assert sent.items[3:] == (assistant("c-2", "c-3"), result("c-2", "2"), result("c-3", "3"))


def test_the_other_name_of_an_id_is_nobodys_own() -> None:
    items = [item for call_id in ("c", "c-2", "c", "c") for item in (assistant(call_id), result(call_id))]
    sent, _ = request(prompt("a", 0), *items)
    assert [item.call_id for item in sent.items if isinstance(item, ToolResultItem)] == [
        "c",
        "c-2",
        "c-3",
        "c-4",
    ]


def test_a_server_that_gives_every_call_the_same_id_costs_little_more_than_others() -> None:
    def seconds(ids: Sequence[str]) -> float:
        items = [item for call_id in ids for item in (assistant(call_id), result(call_id))]
        times = []
        for _ in range(3):
            begin = time.process_time()
            request(*items)
            times.append(time.process_time() - begin)
        return min(times)

    count = 3_000
    assert seconds(["c"] * count) < 8 * seconds([f"c{number}" for number in range(count)])


def test_at_half_of_the_window_exactly_old_results_are_cut() -> None:
    items = full_window(6)
    tokens = figure_of_items(items).plain
    for window, cut in ((2 * tokens + 1, 0), (2 * tokens, 3)):
        _, state = request(*items, model=msgspec.structs.replace(MODEL, context_window=window))
        assert state.cut_turn == cut


def pictures(count: int, size: int) -> list[ConversationItem]:
    """Prompts with a picture of that many bytes each."""
    return [
        UserItem((TextPart("look"), ImagePart("image/png", "A" * size)), prompt_index=n) for n in range(count)
    ]


def test_images_go_oldest_first_in_one_step_and_stay_gone() -> None:
    copy = RequestCopy(SEES, counted(pictures(10, BODY_HIGH // 10 + 100)), WHOLE)
    build(copy, model=SEES)
    hidden = copy.state.hidden_images
    assert 4 <= hidden < 10
    assert copy.figure == figure_of_items(copy.items)
    copy.grow(counted(pictures(1, 10)))
    sent = build(copy, model=SEES)
    gone = [GONE in item.text for item in sent.items if isinstance(item, UserItem)]
    assert gone == [True] * hidden + [False] * (11 - hidden)


STEPS = st.lists(
    st.one_of(
        st.just(prompt("p" * 40, 0)),
        st.just(user_text("note", reason=SyntheticReason.SYSTEM_REMINDER)),
        st.just(ReasoningItem("hm", model="demo-1")),
        st.just(ReasoningItem("no", model="other")),
        st.just(AssistantItem("w" * 30)),
        st.just(AssistantItem()),
        st.just(UserItem((ImagePart("image/png", "A" * 40),), prompt_index=1)),
        st.integers(0, 2).map(lambda n: (assistant("c"), result("c", "r" * (10 + 3_000 * n)))),
    ),
    max_size=40,
)


@settings(max_examples=60)
@given(STEPS, st.integers(1, 7), st.integers(300, 6_000))
def test_a_copy_that_grew_sends_what_one_made_at_once_sends(
    steps: list[ConversationItem | tuple[ConversationItem, ...]], stride: int, window: int
) -> None:
    model = msgspec.structs.replace(SEES, context_window=window)
    items: list[ConversationItem] = []
    grown = RequestCopy(model, (), WHOLE)
    for number, step in enumerate(steps):
        new = list(step) if isinstance(step, tuple) else [step]
        items += new
        grown.grow(counted(new))
        if number % stride == 0:
            before = grown.state
            sent = build(grown, model=model)
            once = RequestCopy(model, counted(items), before)
            assert build(once, model=model) == sent
            assert once.figure == grown.figure == figure_of_items(sent.items)
            assert once.state == grown.state
