"""From the history to a backend-neutral request: what this model gets to read, cut to what it can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grokmini.chat.estimate import Figure, figure_of_items, figure_of_tools
from grokmini.chat.images import GONE, NOT_SUPPORTED, count_images, hide_images, next_hidden
from grokmini.chat.slimming import Need, cut_results, next_cut, turns_of
from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ReasoningItem,
    UnknownItem,
    UserItem,
)
from grokmini.protocol.model import ModelRequest, ModelSpec
from grokmini.protocol.tools import ToolSpec


class CopyState(NamedTuple):
    """What requests leave out for now: results of real turns up to `cut_turn`, the `hidden_images` oldest images.

    It goes from one request to the next, so that what was sent once is sent the same way again.
    """

    cut_turn: int = 0
    hidden_images: int = 0


class Built(NamedTuple):
    """A request, its estimate as it is sent, and what the next one starts from."""

    request: ModelRequest
    figure: Figure
    state: CopyState


def build(
    history: Sequence[ConversationItem],
    *,
    request_id: str,
    model: ModelSpec,
    tools: tuple[ToolSpec, ...],
    conversation_id: str,
    state: CopyState,
    factor: float | None,
) -> Built:
    """Build a request from a repaired history, which stays as it is. `factor` corrects estimates (or None)."""
    items = [item for item in history if _is_for(item, model)]
    tool_figure = figure_of_tools(tools)
    cut_turn = _choose_cut(items, tool_figure, model.context_window, state.cut_turn, factor)
    items = cut_results(items, cut_turn)
    hidden = state.hidden_images
    if images := count_images(items):
        if model.supports.images:
            hidden = next_hidden(items, hidden, text_tokens=figure_of_items(items).plain)
            items = hide_images(items, hidden, GONE)
        else:
            items = hide_images(items, images, NOT_SUPPORTED)
    request = ModelRequest(
        request_id=request_id, model=model, items=tuple(items), tools=tools, conversation_id=conversation_id
    )
    return Built(request, figure_of_items(items).plus(tool_figure), CopyState(cut_turn, hidden))


def _choose_cut(
    items: Sequence[ConversationItem], tools: Figure, window: int, current: int, factor: float | None
) -> int:
    def percent(figure: Figure) -> float:
        return 100.0 * figure.plus(tools).corrected(factor) / max(1, window)

    uncut = percent(figure_of_items(items))
    use = percent(figure_of_items(cut_results(items, current))) if current else uncut
    turns = turns_of(items)
    return next_cut(current, turns=turns[-1] if turns else 0, need=Need(use, uncut))


def _is_for(item: ConversationItem, model: ModelSpec) -> bool:
    """Whether the model is shown the item: opaque parts only where they came from, nothing empty or unknown."""
    match item:
        case UnknownItem():
            return False
        case ReasoningItem() | BackendToolCallItem():
            return item.model in ("", model.name, model.model)
        case AssistantItem():
            return bool(item.text or item.tool_calls)
        case UserItem():
            return bool(item.content)
        case _:
            return True
