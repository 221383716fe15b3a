"""Strict readers of a request's items: what each kind of server answers with 400."""

from __future__ import annotations

from collections.abc import Iterable

from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ReasoningItem,
    SystemItem,
    ToolResultItem,
    UserItem,
)
from tests.chat.histories import refusal


def responses_refusal(items: Iterable[ConversationItem]) -> str:
    """As a Responses server does: every call has one output, every reasoning item the item it led to."""
    calls: list[str] = []
    outputs: list[str] = []
    leading = False
    for number, item in enumerate(items):
        if isinstance(item, ReasoningItem | BackendToolCallItem):
            leading = True
            continue
        if leading and not isinstance(item, AssistantItem):
            return f"item {number}: reasoning without the item that follows it"
        leading = False
        if isinstance(item, AssistantItem):
            calls += [call.id for call in item.tool_calls]
        elif isinstance(item, ToolResultItem):
            if item.call_id not in calls:
                return f"item {number}: output without a call"
            outputs.append(item.call_id)
    if leading:
        return "at the end: reasoning without the item that follows it"
    return "" if sorted(calls) == sorted(outputs) else f"calls {calls}, outputs {outputs}"


def messages_refusal(items: Iterable[ConversationItem]) -> str:
    """As a Messages server does: roles are merged; all results of a message come first in the next one; ids are
    unique; thinking opens an assistant message.
    """
    seen: set[str] = set()
    waiting: set[str] = set()
    for number, item in enumerate(items):
        if isinstance(item, ToolResultItem):
            if item.call_id not in waiting:
                return f"item {number}: tool_result without a tool_use in the message before it"
            waiting.remove(item.call_id)
        elif waiting:
            return f"item {number}: tool_use ids {sorted(waiting)} without a tool_result right after them"
        elif isinstance(item, AssistantItem):
            for call in item.tool_calls:
                if call.id in seen:
                    return f"item {number}: tool_use ids must be unique"
                seen.add(call.id)
            waiting = {call.id for call in item.tool_calls}
            if not (item.text or item.tool_calls):
                return f"item {number}: an empty message"
        elif isinstance(item, UserItem) and not item.content:
            return f"item {number}: an empty message"
    return f"at the end: tool_use ids {sorted(waiting)} without a tool_result" if waiting else ""


def request_refusal(items: Iterable[ConversationItem]) -> str:
    """What the first of the three kinds of server that refuses says; nothing when all accept."""
    sent = list(items)
    systems = [place for place, item in enumerate(sent) if isinstance(item, SystemItem)]
    if systems not in ([], [0]):
        return f"system prompts at {systems}"
    return refusal(sent) or responses_refusal(sent) or messages_refusal(sent)
