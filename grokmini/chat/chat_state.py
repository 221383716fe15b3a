"""Everything the owner of a conversation knows: the history, its size, its bills. Pure and synchronous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from grokmini.chat.conversation import Conversation
from grokmini.chat.estimate import Factors, Figure, figure_of_items, figure_of_tools
from grokmini.chat.ledger import UsageLedger
from grokmini.chat.request import Built, CopyState, build
from grokmini.protocol.items import AssistantItem, BackendToolCallItem, ReasoningItem, Stored
from grokmini.protocol.model import ModelRequest, ModelSpec, Usage
from grokmini.protocol.tools import ToolSpec


class Learnt(NamedTuple):
    """A model's correction factor from now on."""

    model: str
    factor: float


class _Sent(NamedTuple):
    """The last request: who was asked, its estimate, and how much history there was."""

    model: str
    figure: Figure
    tools: tuple[ToolSpec, ...]
    length: int


class _Measured(NamedTuple):
    """What the provider counted: `total` tokens for the first `length` items and the reply after them."""

    total: int
    length: int


class ChatState:
    """The conversation with what is counted about it."""

    def __init__(
        self, stored: Sequence[Stored], *, usage: Mapping[str, Usage], factors: Mapping[str, float]
    ) -> None:
        self.conversation = Conversation(stored)
        self.ledger = UsageLedger(usage)
        self._factors = Factors(factors)
        self._copy = CopyState()
        self._sent: _Sent | None = None
        self._reported = False
        self._measured: _Measured | None = None

    def build(
        self, *, request_id: str, model: ModelSpec, tools: tuple[ToolSpec, ...], conversation_id: str
    ) -> ModelRequest:
        """The next request. The history must be repaired before."""
        built: Built = build(
            self.conversation.items,
            self.conversation.figure,
            request_id=request_id,
            model=model,
            tools=tools,
            conversation_id=conversation_id,
            state=self._copy,
            factor=self._factors.of(model.name),
        )
        if self._sent is not None and self._sent.model != model.name:
            self._measured = None
        self._copy = built.state
        self._sent = _Sent(model.name, built.figure, tools, len(self.conversation))
        self._reported = False
        return built.request

    def record_usage(self, model: str, usage: Usage, estimate: int | None) -> Learnt | None:
        """Enter a report; what it taught of the model, if anything.

        The first report after a request is about that request; `estimate` replaces the estimate made then.
        """
        self.ledger.add(model, usage)
        sent = self._sent
        if sent is None or self._reported or usage.incomplete or not usage.total_input:
            return None
        self._reported = True
        self._measured = _Measured(usage.total, sent.length)
        estimated = sent.figure.plain if estimate is None else estimate
        factor = self._factors.learn(sent.model, reported=usage.total_input, estimated=estimated)
        return None if factor is None else Learnt(sent.model, factor)

    def rewritten(self) -> None:
        """The history is not what was measured any more."""
        self._measured = None
        self._reported = True

    def tokens(self, tools: tuple[ToolSpec, ...] | None) -> int:
        """Estimate of the next request, corrected by what is known of the model last asked.

        With a report it is the provider's total and an estimate of what came after the reply; `tools` None are
        those of the last request.
        """
        sent = self._sent
        factor = self._factors.of(sent.model) if sent is not None else None
        if self._measured is not None:
            return self._measured.total + self._since(self._measured.length).corrected(factor)
        offered = (sent.tools if sent is not None else ()) if tools is None else tools
        return self.conversation.figure.plus(figure_of_tools(offered)).corrected(factor)

    def _since(self, length: int) -> Figure:
        """Estimate of what was appended after a request of that length and its reply."""
        items = self.conversation.items[length:]
        start = 0
        while start < len(items) and isinstance(items[start], ReasoningItem | BackendToolCallItem):
            start += 1
        if start < len(items) and isinstance(items[start], AssistantItem):
            start += 1
        return figure_of_items(items[start:])
