"""Histories to test with, a strict reader of them, and a place in memory to keep them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    Stored,
    ToolCall,
    ToolResultItem,
    UserItem,
    user_text,
)
from grokmini.protocol.model import ModelSpec

MODEL = ModelSpec("demo", "demo-1", "http://127.0.0.1:1")


def assistant(*ids: str, text: str = "") -> AssistantItem:
    """A reply that calls."""
    return AssistantItem(text, tuple(ToolCall(call_id, "grep", "{}") for call_id in ids))


def result(call_id: str, text: str = "found") -> ToolResultItem:
    """A result."""
    return ToolResultItem(call_id, text, text)


def prompt(text: str, index: int) -> UserItem:
    """What a person asked."""
    return user_text(text, prompt_index=index)


def stored(*items: ConversationItem) -> list[Stored]:
    """Items as a file would give them."""
    return [Stored(item) for item in items]


def refusal(items: Iterable[ConversationItem]) -> str:
    """Why a strict chat completions server would answer 400; nothing for a valid history.

    Every assistant message with calls must be followed at once by one tool message for each call.
    """
    waiting: list[str] = []
    for number, item in enumerate(items):
        if isinstance(item, ToolResultItem):
            if item.call_id not in waiting:
                return f"item {number}: tool message without a call before it"
            waiting.remove(item.call_id)
            continue
        if waiting:
            return f"item {number}: calls {waiting} have no tool message"
        if isinstance(item, AssistantItem):
            waiting = [call.id for call in item.tool_calls]
    return f"at the end: calls {waiting} have no tool message" if waiting else ""


class MemoryPersistence:
    """Keeps a history in a list. `saved` is what a file would hold; `rewrites` counts whole writes."""

    def __init__(self, saved: Sequence[Stored] = (), *, works: bool = True) -> None:
        self.saved = list(saved)
        self.rewrites = 0
        self.durable = 0
        self.works = works

    def append(self, stored: Stored) -> None:
        """Add one."""
        self.saved.append(stored)

    def replace(self, items: Sequence[Stored]) -> None:
        """Change all."""
        self.saved = list(items)
        self.rewrites += 1

    async def flush(self, *, durable: bool = False) -> bool:
        """Nothing to wait for."""
        self.durable += durable
        return self.works

    @property
    def items(self) -> list[ConversationItem]:
        """The items saved."""
        return [entry.item for entry in self.saved]
