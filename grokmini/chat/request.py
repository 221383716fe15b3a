"""From the history to a backend-neutral request: what this model gets to read, cut to what it can hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grokmini.chat.estimate import Figure, figure_of_item, figure_of_items, figure_of_tools
from grokmini.chat.images import GONE, NOT_SUPPORTED, count_images, hide_images, next_hidden
from grokmini.chat.slimming import CUT_ABOVE, Need, cut_results, next_cut, turns_of
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
    figure: Figure,
    *,
    request_id: str,
    model: ModelSpec,
    tools: tuple[ToolSpec, ...],
    conversation_id: str,
    state: CopyState,
    factor: float | None,
) -> Built:
    """Build a request from a repaired history, which stays as it is.

    `figure` is the estimate of the history; `factor` corrects estimates (None: nothing is known of the model).
    """
    foreign = [item for item in history if not _is_for(item, model)]
    items = [item for item in history if _is_for(item, model)] if foreign else list(history)
    whole = figure.minus(figure_of_items(foreign)).plus(figure_of_tools(tools))
    cut, cut_turn = _cut(items, whole, model.context_window, state.cut_turn, factor)
    items, hidden = _hide_images(cut.items, model, state.hidden_images, cut.figure)
    request = ModelRequest(
        request_id=request_id, model=model, items=tuple(items), tools=tools, conversation_id=conversation_id
    )
    return Built(request, cut.figure, CopyState(cut_turn, hidden))


class _Cut(NamedTuple):
    items: list[ConversationItem]
    figure: Figure


def _cut(
    items: list[ConversationItem], whole: Figure, window: int, current: int, factor: float | None
) -> tuple[_Cut, int]:
    """Cut old results as far as the window asks for it; up to which turn that is."""

    def percent(figure: Figure) -> float:
        return 100.0 * figure.corrected(factor) / max(1, window)

    uncut = percent(whole)
    if uncut <= CUT_ABOVE and not current:
        return _Cut(items, whole), 0
    now = _cut_to(items, whole, current)
    wanted = next_cut(current, turns=turns_of(items)[-1], need=Need(percent(now.figure), uncut))
    return (now if wanted == current else _cut_to(items, whole, wanted)), wanted


def _cut_to(items: list[ConversationItem], whole: Figure, turn: int) -> _Cut:
    copy = cut_results(items, turn)
    figure = whole
    for before, after in zip(items, copy, strict=True):
        if before is not after:
            figure = figure.minus(figure_of_item(before)).plus(figure_of_item(after))
    return _Cut(copy, figure)


def _hide_images(
    items: list[ConversationItem], model: ModelSpec, hidden: int, figure: Figure
) -> tuple[list[ConversationItem], int]:
    images = count_images(items)
    if not images:
        return items, hidden
    if not model.supports.images:
        return hide_images(items, images, NOT_SUPPORTED), hidden
    now_hidden = next_hidden(items, hidden, text_tokens=figure.plain)
    return hide_images(items, now_hidden, GONE), now_hidden


def _is_for(item: ConversationItem, model: ModelSpec) -> bool:
    """Whether the model is shown the item: opaque parts only where they came from, nothing empty or unknown."""
    if isinstance(item, AssistantItem):
        return bool(item.tool_calls or item.text)
    if isinstance(item, UserItem):
        return bool(item.content)
    if isinstance(item, ReasoningItem | BackendToolCallItem):
        return item.model in ("", model.name, model.model)
    return not isinstance(item, UnknownItem)
