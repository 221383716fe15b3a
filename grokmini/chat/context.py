"""What the next request consists of: a bar's worth of figures, by category."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from grokmini.chat.estimate import IMAGE_TOKENS, Figure, figure_of_item
from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    SyntheticReason,
    SystemItem,
    UserItem,
)
from grokmini.text.tokens import percent_of, remaining

Category = Literal[
    "system",
    "instructions",
    "environment",
    "tools",
    "prompts",
    "notes",
    "replies",
    "reasoning",
    "tool results",
    "images",
]
CATEGORIES: tuple[Category, ...] = (
    "system", "tools", "environment", "instructions", "prompts", "notes", "replies", "reasoning", "tool results",
    "images",
)  # fmt: skip
"""In the order in which they are shown. `notes` is what the runtime injected besides."""

_OF_REASON: Mapping[SyntheticReason | None, Category] = {
    None: "prompts",
    SyntheticReason.INTERJECTION: "prompts",
    SyntheticReason.SHELL_ESCAPE: "prompts",
    SyntheticReason.ENVIRONMENT: "environment",
    SyntheticReason.PROJECT_INSTRUCTIONS: "instructions",
}


class ContextPart(NamedTuple):
    """One category's share of the next request, in tokens."""

    category: Category
    tokens: int


class ContextReport(NamedTuple):
    """What the next request is made of. `parts` has every category, in order; their sum is `tokens`.

    All figures are estimates, those that are shown elsewhere and decide when to slim; `items` is how many items
    the request would hold.
    """

    model: str
    window: int
    tokens: int
    parts: tuple[ContextPart, ...]
    items: int

    @property
    def free(self) -> int:
        """Tokens left in the window."""
        return remaining(self.window, self.tokens)

    @property
    def percent(self) -> float:
        """How full the window is."""
        return percent_of(self.tokens, self.window)


def sort_figures(items: Iterable[ConversationItem], tools: Figure) -> dict[Category, Figure]:
    """The estimate of every category."""
    figures = dict.fromkeys(CATEGORIES, Figure())
    figures["tools"] = tools
    for item in items:
        figure = figure_of_item(item)
        category = category_of(item)
        if isinstance(item, UserItem) and (count := sum(isinstance(part, ImagePart) for part in item.content)):
            pictures = Figure(count * IMAGE_TOKENS, count * IMAGE_TOKENS)
            figures["images"] = figures["images"].plus(pictures)
            figure = figure.minus(pictures)
        figures[category] = figures[category].plus(figure)
    return figures


def category_of(item: ConversationItem) -> Category:
    """Where an item is counted; its images are counted apart."""
    if isinstance(item, SystemItem):
        return "system"
    if isinstance(item, UserItem):
        return _OF_REASON.get(item.synthetic_reason, "notes")
    if isinstance(item, AssistantItem):
        return "replies"
    return "reasoning" if isinstance(item, ReasoningItem) else "tool results"


def share_out(figures: Mapping[Category, int], total: int) -> tuple[ContextPart, ...]:
    """The total split in proportion to the figures, in whole tokens that add up to it."""
    whole = sum(figures.values())
    if not whole:
        return tuple(ContextPart(category, 0) for category in CATEGORIES)
    shares = {category: divmod(figures[category] * total, whole) for category in CATEGORIES}
    left = total - sum(share for share, _ in shares.values())
    raised = sorted(CATEGORIES, key=lambda category: -shares[category][1])[:left]
    return tuple(ContextPart(name, shares[name][0] + (name in raised)) for name in CATEGORIES)
