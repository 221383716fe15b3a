"""From history to request: what a model gets to read."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from grokmini.chat.estimate import figure_of_items, figure_of_tools
from grokmini.chat.request import Built, CopyState, build
from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    SystemItem,
    TextPart,
    ToolResultItem,
    UnknownItem,
    UserItem,
)
from grokmini.protocol.model import ModelRequest, ModelSpec, Supports
from grokmini.protocol.tools import ToolSpec
from tests.chat.histories import MODEL, assistant, prompt, result

WHOLE = CopyState()
SEES = msgspec.structs.replace(MODEL, supports=Supports(images=True))


def build_whole(
    items: Sequence[ConversationItem],
    *,
    model: ModelSpec = MODEL,
    tools: tuple[ToolSpec, ...] = (),
    state: CopyState = WHOLE,
) -> Built:
    """Build with nothing known of the model."""
    return build(
        items,
        figure_of_items(items),
        request_id="r",
        model=model,
        tools=tools,
        conversation_id="c",
        state=state,
        factor=None,
    )


def request(
    *items: ConversationItem, model: ModelSpec = MODEL, state: CopyState = WHOLE
) -> tuple[ModelRequest, CopyState]:
    """Build a request without tools."""
    built = build_whole(items, model=model, state=state)
    return built.request, built.state


def test_items_tools_and_ids_are_handed_over() -> None:
    tool = ToolSpec("grep", "Search.", msgspec.Raw(b"{}"))
    items = (SystemItem("s"), prompt("a", 0))
    built = build_whole(items, tools=(tool,))
    assert built.request == ModelRequest("r", MODEL, items, (tool,), conversation_id="c")


def test_reasoning_and_backend_calls_go_only_to_the_model_they_came_from() -> None:
    own = (ReasoningItem("a", model="demo-1"), BackendToolCallItem("demo", msgspec.Raw(b"{}")))
    foreign = (ReasoningItem("b", model="other"), BackendToolCallItem("other", msgspec.Raw(b"{}")))
    sent, _ = request(prompt("a", 0), *own, *foreign, AssistantItem("x"))
    assert sent.items == (prompt("a", 0), *own, AssistantItem("x"))


def test_items_that_say_nothing_to_a_model_are_left_out() -> None:
    sent, _ = request(prompt("a", 0), UnknownItem("hologram"), AssistantItem(), UserItem(()), prompt("b", 1))
    assert sent.items == (prompt("a", 0), prompt("b", 1))


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
    built = build_whole(items, model=small, tools=(tool,))
    assert built.figure == figure_of_items(built.request.items).plus(figure_of_tools((tool,)))
    assert built.figure.plain < figure_of_items(items).plain
