"""The one place that knows what a conversation costs in tokens (spec: chat-state.md, "Counting tokens")."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, assert_never

import msgspec

from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    SystemItem,
    ToolResultItem,
    UnknownItem,
    UserItem,
)
from grokmini.protocol.tools import ToolSpec
from grokmini.text.tokens import estimate_bytes, estimate_carefully, estimate_tokens

IMAGE_TOKENS = 765

FACTOR_LEAST = 0.5
FACTOR_MOST = 4.0
FACTOR_WEIGHT = 0.3
"""How much of a new report goes into the learnt factor."""


class Figure(NamedTuple):
    """An estimate in tokens: `plain` is bytes / 4, `careful` counts dense scripts a token a character."""

    plain: int = 0
    careful: int = 0

    def plus(self, other: Figure) -> Figure:
        """Both together."""
        return Figure(self.plain + other.plain, self.careful + other.careful)

    def minus(self, other: Figure) -> Figure:
        """This without the other, which is part of it."""
        return Figure(self.plain - other.plain, self.careful - other.careful)

    def corrected(self, factor: float | None) -> int:
        """The figure to show and to decide by; `factor` is what was learnt of the model, None if nothing was."""
        return self.careful if factor is None else round(self.plain * factor)


def figure_of_text(text: str) -> Figure:
    """Estimate a text."""
    if text.isascii():
        tokens = estimate_bytes(len(text))
        return Figure(tokens, tokens)
    return Figure(estimate_tokens(text), estimate_carefully(text))


def figure_of_item(item: ConversationItem) -> Figure:
    """Estimate one item as the model will read it."""
    match item:
        case SystemItem() | ReasoningItem():
            opaque = b"" if isinstance(item, SystemItem) or item.opaque is None else bytes(item.opaque)
            return figure_of_text(item.text).plus(_same(estimate_bytes(len(opaque))))
        case UserItem():
            images = sum(isinstance(part, ImagePart) for part in item.content)
            return figure_of_text(item.text).plus(_same(images * IMAGE_TOKENS))
        case AssistantItem():
            figure = figure_of_text(item.text)
            for call in item.tool_calls:
                figure = figure.plus(figure_of_text(call.name)).plus(figure_of_text(call.arguments))
            return figure
        case ToolResultItem():
            return figure_of_text(item.prompt_text)
        case BackendToolCallItem():
            return _same(estimate_bytes(len(bytes(item.payload))))
        case UnknownItem():
            return Figure()
        case _:
            assert_never(item)


def sum_of_figures(figures: Iterable[Figure]) -> Figure:
    """All of them together."""
    plain = careful = 0
    for figure in figures:
        plain += figure.plain
        careful += figure.careful
    return Figure(plain, careful)


def figure_of_tools(tools: Iterable[ToolSpec]) -> Figure:
    """Estimate tool definitions, as the JSON they are sent in."""
    return _same(sum(estimate_bytes(len(msgspec.json.encode(tool))) for tool in tools))


def learn(factor: float | None, *, reported: int, estimated: int) -> float | None:
    """The model's correction factor after one more report of what a request of that estimate really cost."""
    if reported <= 0 or estimated <= 0:
        return factor
    ratio = bounded(reported / estimated)
    return ratio if factor is None else bounded(factor + FACTOR_WEIGHT * (ratio - factor))


def bounded(factor: float) -> float:
    """A factor within what is believable, 0.5 to 4."""
    return min(max(factor, FACTOR_LEAST), FACTOR_MOST)


class Factors:
    """The learnt correction factor of every model."""

    def __init__(self, known: Mapping[str, float] = {}) -> None:
        self._known = {model: bounded(factor) for model, factor in known.items()}

    def of(self, model: str) -> float | None:
        """The factor; None when no report of the model is known."""
        return self._known.get(model)

    def learn(self, model: str, *, reported: int, estimated: int) -> float | None:
        """Take a report in; the factor from now on."""
        factor = learn(self._known.get(model), reported=reported, estimated=estimated)
        if factor is not None:
            self._known[model] = factor
        return factor


def _same(tokens: int) -> Figure:
    return Figure(tokens, tokens)
