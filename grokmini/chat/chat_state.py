"""Everything the owner of a conversation knows: the history, its size, its bills. Pure and synchronous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from grokmini.chat.context import ContextReport, share_out, sort_figures
from grokmini.chat.conversation import Conversation
from grokmini.chat.estimate import Factors, Figure, figure_of_item, figure_of_tools
from grokmini.chat.ledger import UsageLedger, Work
from grokmini.chat.request import CopyState, RequestCopy
from grokmini.chat.slimming import HARD_CLEAR_AGE_TURNS
from grokmini.chat.snapshot import ChatStateSnapshot, lines_of
from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ReasoningItem,
    Stored,
)
from grokmini.protocol.model import ModelRequest, ModelSpec, Usage
from grokmini.protocol.tools import ToolSpec


class Learnt(NamedTuple):
    """A model's correction factor from now on."""

    model: str
    factor: float


class _Exchange:
    """A request and the reply to it: what was estimated, what of the history it held, what came back."""

    def __init__(self, model: str, tools: tuple[ToolSpec, ...], items: Figure) -> None:
        self.model = model
        self.tools = tools
        self.offered = figure_of_tools(tools)
        self.items = items
        self.reply = Figure()
        self.reported = False
        self._replying = True
        self._before_reply = Figure()

    def pushed(self, item: ConversationItem, figure: Figure) -> None:
        """An item came into the history: the first ones may be the reply."""
        if not self._replying:
            return
        if isinstance(item, ReasoningItem | BackendToolCallItem):
            self._before_reply = self._before_reply.plus(figure)
            return
        self._replying = False
        if isinstance(item, AssistantItem) and (item.text or item.tool_calls):
            self.reply = self._before_reply.plus(figure)


class _Measured(NamedTuple):
    """What the provider counted in all for an exchange, in tokens."""

    total: int
    exchange: _Exchange


class ChatState:
    """The conversation with what is counted about it."""

    def __init__(
        self,
        stored: Sequence[Stored],
        *,
        usage: Mapping[str, Mapping[str, Usage]] = {},
        factors: Mapping[str, float] = {},
        clear_age: int = HARD_CLEAR_AGE_TURNS,
    ) -> None:
        self.conversation = Conversation(stored, clear_age=clear_age)
        self.ledger = UsageLedger(usage)
        self._model: ModelSpec | None = None
        self._factors = Factors(factors)
        self._left_out = CopyState()
        self._copy: RequestCopy | None = None
        self._copied = 0
        self._edition = -1
        self._sent: _Exchange | None = None
        self._measured: _Measured | None = None

    @property
    def window(self) -> int:
        """The window of the model in use, in tokens; 0 when none is known yet."""
        return self._model.context_window if self._model is not None else 0

    def push(self, item: ConversationItem) -> Stored:
        """Add an item at the end."""
        stored = self.conversation.push(item)
        if self._sent is not None:
            self._sent.pushed(item, figure_of_item(item))
        return stored

    def set_model(self, model: ModelSpec) -> None:
        """The model that is asked from now on. What another one counted is nothing to it."""
        if self._sent is not None and self._sent.model != model.name:
            self._measured = None
            self._sent.reported = True
        self._model = model

    def build(
        self, *, request_id: str, model: ModelSpec, tools: tuple[ToolSpec, ...], conversation_id: str
    ) -> ModelRequest:
        """The next request. The history must be repaired before."""
        self.set_model(model)
        copy = self._grown(model)
        request = copy.build(
            request_id=request_id,
            model=model,
            tools=tools,
            conversation_id=conversation_id,
            factor=self._factors.of(model.name),
        )
        self._sent = _Exchange(model.name, tools, copy.figure)
        return request

    def record_usage(
        self, model: str, usage: Usage, estimate: int | None, work: Work = "main"
    ) -> Learnt | None:
        """Enter a report; what it taught of the model, if anything.

        The main loop's first report after a request is about that request; `estimate` replaces the estimate made
        then.
        """
        self.ledger.add(model, usage, work)
        sent = self._sent
        if work != "main" or sent is None or sent.reported or usage.incomplete or not usage.total_input:
            return None
        sent.reported = True
        self._measured = _Measured(usage.total, sent)
        estimated = sent.items.plus(sent.offered).plain if estimate is None else estimate
        factor = self._factors.learn(sent.model, reported=usage.total_input, estimated=estimated)
        return None if factor is None else Learnt(sent.model, factor)

    def tokens(self, tools: tuple[ToolSpec, ...] | None = None) -> int:
        """Estimate of the next request, corrected by what is known of the model in use.

        With a report it is the provider's total and an estimate of what came or went since that reply. `tools`
        None are those of the last request.
        """
        if self._model is None:
            return self.conversation.figure.plus(figure_of_tools(tools or ())).corrected(None)
        factor = self._factors.of(self._model.name)
        now = self._grown(self._model).figure.plus(self._offered(tools))
        if self._measured is None:
            return now.corrected(factor)
        total, then = self._measured
        since = now.minus(then.items).minus(then.offered).minus(then.reply)
        return max(0, total + since.corrected(factor))

    def context(self, model: ModelSpec, tools: tuple[ToolSpec, ...]) -> ContextReport:
        """What the next request to that model would be made of. Changes nothing."""
        offered = figure_of_tools(tools)
        factor = self._factors.of(model.name)
        if self._model is not None and self._model.name == model.name:
            copy, total = self._grown(self._model), self.tokens(tools)
        else:
            copy = RequestCopy(model, self.conversation.since(0), self._left_out)
            total = copy.figure.plus(offered).corrected(factor)
        figures = sort_figures(copy.items, offered)
        parts = share_out({name: figure.corrected(factor) for name, figure in figures.items()}, total)
        return ContextReport(
            model.name, model.context_window, sum(part.tokens for part in parts), parts, len(copy.items)
        )

    def start_anew(self) -> None:
        """The history is another one: nothing that was measured or left out counts any more."""
        self._measured = None
        if self._sent is not None:
            self._sent.reported = True
        self._left_out = CopyState()
        self._copy = None

    def snapshot(self) -> ChatStateSnapshot:
        """All that a fork or a rewind needs."""
        left_out = self._copy.state if self._copy is not None else self._left_out
        return ChatStateSnapshot(
            items=lines_of(self.conversation.stored),
            next_prompt_index=self.conversation.next_prompt_index,
            model=self._model.name if self._model is not None else "",
            context_window=self.window,
            total_tokens=self.tokens(),
            cut_turn=left_out.cut_turn,
            hidden_images=left_out.hidden_images,
        )

    def restore(self, snapshot: ChatStateSnapshot) -> None:
        """Be what the snapshot holds, with the model and the bills of now. Raises `SessionError`."""
        self.conversation.restore(snapshot.stored(), next_prompt_index=snapshot.next_prompt_index)
        self.start_anew()
        self._left_out = CopyState(snapshot.cut_turn, snapshot.hidden_images)

    def _offered(self, tools: tuple[ToolSpec, ...] | None) -> Figure:
        if tools is not None:
            return figure_of_tools(tools)
        return self._sent.offered if self._sent is not None else Figure()

    def _grown(self, model: ModelSpec) -> RequestCopy:
        """The copy for that model, grown to the history as it is."""
        history, copy = self.conversation, self._copy
        if copy is not None and copy.serves(model) and self._edition == history.edition:
            copy.grow(history.since(self._copied))
        else:
            left_out = copy.state if copy is not None else self._left_out
            copy = self._copy = RequestCopy(model, history.since(0), left_out)
            self._edition = history.edition
        self._copied = len(history)
        return copy
