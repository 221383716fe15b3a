"""What may be asked of the owner of a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from grokmini.chat.chat_state import ChatState
from grokmini.chat.repair import RepairReport
from grokmini.protocol.items import ConversationItem, UserItem
from grokmini.protocol.model import ModelRequest, ModelSpec, Usage
from grokmini.protocol.tools import ToolSpec


class PushPrompt(NamedTuple):
    """A real user message; answered when it is saved for good (True) or could not be (False)."""

    item: UserItem
    reply: asyncio.Future[bool]


class Push(NamedTuple):
    """Any other item."""

    item: ConversationItem


class ReplaceSystem(NamedTuple):
    """A new system prompt."""

    text: str


class BuildRequest(NamedTuple):
    """Make the next request."""

    request_id: str
    model: ModelSpec
    tools: tuple[ToolSpec, ...]
    conversation_id: str
    reply: asyncio.Future[ModelRequest]


class RepairAfterStop(NamedTuple):
    """The runtime has stopped a turn: no call is running any more."""

    reply: asyncio.Future[RepairReport]


class RecordUsage(NamedTuple):
    """The provider's report of one call."""

    model: str
    usage: Usage
    estimate: int | None


class Change(NamedTuple):
    """A change of the bookkeeping that touches no item."""

    apply: Callable[[ChatState], None]


class Read(NamedTuple):
    """A question about the state. Dropped when nobody waits for the reply any more."""

    question: Callable[[ChatState], object]
    reply: asyncio.Future[Any]


class Flush(NamedTuple):
    """Wait until everything before is written."""

    reply: asyncio.Future[bool]


Command: TypeAlias = (
    PushPrompt | Push | ReplaceSystem | BuildRequest | RepairAfterStop | RecordUsage | Change | Read | Flush
)
