"""What may be asked of the owner of a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from grokmini.chat.chat_state import ChatState
from grokmini.chat.ledger import Work
from grokmini.chat.repair import RepairReport
from grokmini.chat.snapshot import ChatStateSnapshot
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
    work: Work


class ReplaceHistory(NamedTuple):
    """A compaction's shorter history; answered as a prompt is."""

    items: tuple[ConversationItem, ...]
    reply: asyncio.Future[bool]


class Truncate(NamedTuple):
    """Drop a prompt and all after it; answered with the number of items that went."""

    prompt_index: int
    reply: asyncio.Future[int]


class Restore(NamedTuple):
    """Be what a snapshot holds; answered when that is written."""

    snapshot: ChatStateSnapshot
    reply: asyncio.Future[bool]


class SetModel(NamedTuple):
    """Another model, or another window, from now on."""

    model: ModelSpec


class Change(NamedTuple):
    """A change of the bookkeeping that touches no item."""

    apply: Callable[[ChatState], None]


class Read(NamedTuple):
    """A question about the state. Dropped when nobody waits for the reply any more."""

    question: Callable[[ChatState], object]
    reply: asyncio.Future[Any]


class Flush(NamedTuple):
    """Wait until everything before is written."""

    durable: bool
    reply: asyncio.Future[bool]


Command: TypeAlias = (
    PushPrompt
    | Push
    | ReplaceSystem
    | ReplaceHistory
    | Truncate
    | Restore
    | SetModel
    | BuildRequest
    | RepairAfterStop
    | RecordUsage
    | Change
    | Read
    | Flush
)
