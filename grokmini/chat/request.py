"""From the history to a backend-neutral request: what this model gets to read, cut to what it can hold.

A `RequestCopy` grows with the history, so a request costs what is new, not what is old. What it was slimmed by
stays as it is: text that was sent once is sent the same way again, and the provider's cache holds.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from grokmini.chat.estimate import Figure, figure_of_item, figure_of_tools
from grokmini.chat.images import GONE, NOT_SUPPORTED, hide_image, image_places, next_hidden
from grokmini.chat.slimming import PROTECTED_TURNS, Need, cut_result, is_long, next_cut
from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    SystemItem,
    ToolCall,
    ToolResultItem,
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


class _LongResult(NamedTuple):
    """A result that may be cut, in its place and real turn."""

    place: int
    turn: int
    whole: ToolResultItem


class _Image(NamedTuple):
    """An image by its item's place, its own place in that item, and its size in bytes as it is sent."""

    place: int
    part: int
    size: int


class RequestCopy:
    """What one model is sent of one history. The history itself stays as it is.

    A model is shown opaque parts only where they came from and followed by the reply they led to, nothing empty
    or unknown, no system prompt but at the beginning, and no call id twice (some formats refuse that; servers do use
    them again).
    """

    def __init__(
        self,
        model: ModelSpec,
        history: Iterable[tuple[ConversationItem, Figure]],
        state: CopyState,
    ) -> None:
        """`history` is every item with its estimate; `state` what the requests before left out."""
        self.model = model
        self.items: list[ConversationItem] = []
        self._plain = self._careful = 0
        self._saved = Figure()
        self._turns = 0
        self._cut_turn = 0
        self._long: list[_LongResult] = []
        self._cut_results = 0
        self._images: list[_Image] = []
        self._hidden = 0
        self._before_reply: list[tuple[ConversationItem, Figure]] = []
        self._ids: set[str] = set()
        self._uses: dict[str, int] = {}
        self._answers: deque[str] = deque()
        self.grow(history)
        self._cut_to(min(state.cut_turn, self._reachable))
        self._hide(min(state.hidden_images, len(self._images)))

    @property
    def state(self) -> CopyState:
        """What is left out now."""
        return CopyState(self._cut_turn, self._hidden)

    @property
    def figure(self) -> Figure:
        """Estimate of the items as they are sent."""
        return self._uncut.minus(self._saved)

    @property
    def _uncut(self) -> Figure:
        """The same with no result cut."""
        return Figure(self._plain, self._careful)

    def serves(self, model: ModelSpec) -> bool:
        """Whether this copy is for that model."""
        mine = self.model
        return (mine.name, mine.model, mine.supports.images) == (model.name, model.model, model.supports.images)

    def grow(self, new: Iterable[tuple[ConversationItem, Figure]]) -> None:
        """Take in what was added to the history."""
        for item, figure in new:
            if isinstance(item, ToolResultItem):
                self._add_result(item, figure)
            elif isinstance(item, AssistantItem):
                self._add_reply(item, figure)
            elif isinstance(item, ReasoningItem | BackendToolCallItem):
                if item.model in ("", self.model.name, self.model.model):
                    self._before_reply.append((item, figure))
            elif isinstance(item, UserItem):
                self._add_words(item, figure)
            elif isinstance(item, SystemItem) and not self.items:
                self._add(item, figure)

    def build(
        self,
        *,
        request_id: str,
        model: ModelSpec,
        tools: tuple[ToolSpec, ...],
        conversation_id: str,
        factor: float | None,
    ) -> ModelRequest:
        """The request of what is here now; the history must be repaired.

        `factor` corrects estimates (None: nothing is known of the model).
        """
        self.model = model
        offered = figure_of_tools(tools)
        self._slim(offered, factor)
        return ModelRequest(
            request_id=request_id,
            model=model,
            items=tuple(self.items),
            tools=tools,
            conversation_id=conversation_id,
        )

    @property
    def _reachable(self) -> int:
        return max(0, self._turns - PROTECTED_TURNS)

    def _slim(self, offered: Figure, factor: float | None) -> None:
        tokens, uncut = (figure.plus(offered).corrected(factor) for figure in (self.figure, self._uncut))
        need = Need(tokens, uncut, self.model.context_window)
        self._cut_to(next_cut(self._cut_turn, turns=self._turns, need=need))
        if self._images and self.model.supports.images:
            sizes = [image.size for image in self._images]
            self._hide(next_hidden(sizes, self._hidden, text_tokens=self.figure.plus(offered).plain))

    def _add(self, item: ConversationItem, figure: Figure) -> None:
        self.items.append(item)
        self._plain += figure.plain
        self._careful += figure.careful

    def _add_result(self, item: ToolResultItem, figure: Figure) -> None:
        if self._answers and (call_id := self._answers.popleft()) != item.call_id:
            item = msgspec.structs.replace(item, call_id=call_id)
        if is_long(item):
            self._long.append(_LongResult(len(self.items), self._turns, item))
        self._add(item, figure)

    def _add_reply(self, item: AssistantItem, figure: Figure) -> None:
        before, self._before_reply = self._before_reply, []
        if not (item.tool_calls or item.text):
            return
        for earlier in before:
            self._add(*earlier)
        if item.tool_calls:
            calls = tuple(self._with_own_id(call) for call in item.tool_calls)
            self._answers = deque(call.id for call in calls)
            if calls != item.tool_calls:
                item = msgspec.structs.replace(item, tool_calls=calls)
        self._add(item, figure)

    def _with_own_id(self, call: ToolCall) -> ToolCall:
        own, number = call.id, self._uses.get(call.id, 1)
        while own in self._ids:
            number += 1
            own = f"{call.id}-{number}"
        self._ids.add(own)
        self._uses[call.id] = number
        return call if own == call.id else msgspec.structs.replace(call, id=own)

    def _add_words(self, item: UserItem, figure: Figure) -> None:
        self._turns += item.is_real_prompt
        if not item.content:
            return
        self._before_reply = []
        for part in image_places(item):
            if self.model.supports.images:
                image = item.content[part]
                assert isinstance(image, ImagePart)
                self._images.append(_Image(len(self.items), part, len(image.data)))
            else:
                item = hide_image(item, part, NOT_SUPPORTED)
                figure = figure_of_item(item)
        self._add(item, figure)

    def _cut_to(self, turn: int) -> None:
        """Cut the long results of real turns up to that one, and none after it."""
        if turn < self._cut_turn:
            for result in self._long[: self._cut_results]:
                self.items[result.place] = result.whole
            self._cut_results, self._saved = 0, Figure()
        self._cut_turn = turn
        while self._cut_results < len(self._long) and self._long[self._cut_results].turn <= turn:
            result = self._long[self._cut_results]
            short = cut_result(result.whole)
            self._saved = self._saved.plus(figure_of_item(result.whole)).minus(figure_of_item(short))
            self.items[result.place] = short
            self._cut_results += 1

    def _hide(self, count: int) -> None:
        """Hide the oldest images up to that number; what is hidden stays so."""
        for image in self._images[self._hidden : count]:
            item = self.items[image.place]
            assert isinstance(item, UserItem)
            hidden = hide_image(item, image.part, GONE)
            change = figure_of_item(hidden).minus(figure_of_item(item))
            self._plain += change.plain
            self._careful += change.careful
            self.items[image.place] = hidden
        self._hidden = max(self._hidden, count)
