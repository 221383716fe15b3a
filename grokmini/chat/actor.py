"""The one owner of a conversation, and the handle through which everyone else speaks to it.

Writes are commands that nobody waits for; reads carry a future. All go through one mailbox, in order, so a read
sees every write before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar, assert_never

from grokmini.actor import Mailbox, serve
from grokmini.chat.chat_state import ChatState
from grokmini.chat.commands import (
    BuildRequest,
    Change,
    Command,
    Flush,
    Push,
    PushPrompt,
    Read,
    RecordUsage,
    RepairAfterStop,
    ReplaceSystem,
)
from grokmini.chat.images import drop_unusable
from grokmini.chat.ledger import UsageReport
from grokmini.chat.ports import ChatPersistence
from grokmini.chat.repair import ENDED, STOPPED, RepairReport
from grokmini.protocol.items import ConversationItem, Stored, SystemItem, UserItem
from grokmini.protocol.model import ModelRequest, ModelSpec, Usage
from grokmini.protocol.tools import ToolSpec

T = TypeVar("T")


class ChatStateActor:
    """Owns the conversation and its persistence. Repairs run here, at the four borders, and nowhere else."""

    def __init__(
        self,
        state: ChatState,
        persistence: ChatPersistence,
        *,
        on_repair: Callable[[RepairReport], None],
        on_factor: Callable[[str, float], None],
    ) -> None:
        self._state = state
        self._persistence = persistence
        self._on_repair = on_repair
        self._on_factor = on_factor

    async def run(self, mailbox: Mailbox[Command]) -> None:
        """Serve until the mailbox is closed and empty. If it fails, nobody is left waiting."""
        try:
            await serve(mailbox, self._serve)
        finally:
            mailbox.close()
            while (command := mailbox.take_nowait()) is not None:
                abandon(command)

    async def _serve(self, command: Command) -> None:
        try:
            await self._handle(command)
        except BaseException:
            abandon(command)
            raise

    async def _handle(self, command: Command) -> None:
        match command:
            case PushPrompt():
                await self._push_prompt(command)
            case Push():
                self._push(command.item)
            case ReplaceSystem():
                self._replace_system(command.text)
            case BuildRequest():
                self._build(command)
            case RepairAfterStop():
                settle(command.reply, self._repair())
            case RecordUsage():
                learnt = self._state.record_usage(command.model, command.usage, command.estimate)
                if learnt is not None:
                    self._on_factor(learnt.model, learnt.factor)
            case Change():
                command.apply(self._state)
            case Read():
                if not command.reply.done():
                    command.reply.set_result(command.question(self._state))
            case Flush():
                settle(command.reply, await self._persistence.flush())
            case _:
                assert_never(command)

    async def _push_prompt(self, command: PushPrompt) -> None:
        self._repair()
        self._persistence.append(self._state.conversation.push(command.item))
        settle(command.reply, await self._persistence.flush(durable=True))
        if self._state.conversation.clear_old_results():
            self._rewrite()

    def _push(self, item: ConversationItem) -> None:
        if isinstance(item, SystemItem):
            self._replace_system(item.text)
        else:
            self._persistence.append(self._state.conversation.push(item))

    def _replace_system(self, text: str) -> None:
        conversation = self._state.conversation
        if not len(conversation):
            self._persistence.append(conversation.push(SystemItem(text)))
        elif conversation.replace_system(text):
            self._rewrite()

    def _build(self, command: BuildRequest) -> None:
        self._repair()
        if command.reply.done():
            return
        request = self._state.build(
            request_id=command.request_id,
            model=command.model,
            tools=command.tools,
            conversation_id=command.conversation_id,
        )
        settle(command.reply, request)

    def _repair(self, missing: str = STOPPED) -> RepairReport:
        repair = self._state.conversation.repair(missing)
        if repair.appended is None:
            self._rewrite()
        else:
            for stored in repair.appended:
                self._persistence.append(stored)
        if repair.report.changed:
            self._on_repair(repair.report)
        return repair.report

    def _rewrite(self) -> None:
        self._persistence.replace(self._state.conversation.stored)
        self._state.rewritten()

    def load(self) -> None:
        """The first border: what a crash left is made valid and saved."""
        conversation = self._state.conversation
        images = drop_unusable(conversation.stored)
        if images.images:
            conversation.replace(images.items)
            self._rewrite()
            self._on_repair(RepairReport(images_dropped=images.images))
        self._repair(ENDED)


class ChatHandle:
    """How everyone else speaks to a conversation. Cheap to hand around. After `close` writes raise."""

    def __init__(self, mailbox: Mailbox[Command], task: asyncio.Task[None]) -> None:
        self._mailbox = mailbox
        self._task = task

    def push_prompt(self, item: UserItem) -> Awaitable[bool]:
        """Add a real user message at once; the awaitable tells whether it is saved for good."""
        reply = self._future(bool)
        self._mailbox.put(PushPrompt(item, reply))
        return reply

    def push(self, item: ConversationItem) -> None:
        """Add any other item. A system item takes its place at the head."""
        self._mailbox.put(Push(item))

    def replace_system(self, text: str) -> None:
        """Make this the system prompt."""
        self._mailbox.put(ReplaceSystem(text))

    async def build_request(
        self, *, request_id: str, model: ModelSpec, tools: tuple[ToolSpec, ...], conversation_id: str
    ) -> ModelRequest:
        """The next request: repaired, slimmed, fit for the model."""
        reply = self._future(ModelRequest)
        self._mailbox.put(BuildRequest(request_id, model, tools, conversation_id, reply))
        return await reply

    async def repair_after_stop(self) -> RepairReport:
        """To be called when the runtime has stopped a turn and all its calls."""
        reply = self._future(RepairReport)
        self._mailbox.put(RepairAfterStop(reply))
        return await reply

    def record_usage(self, model: str, usage: Usage, *, estimate: int | None = None) -> None:
        """Enter what a provider reported. The first report after `build_request` is about that request;
        `estimate` (tokens) is taken instead of the estimate made then.
        """
        self._mailbox.put(RecordUsage(model, usage, estimate))

    def mark_usage_incomplete(self, model: str) -> None:
        """A call was made whose figure is lost."""
        self._mailbox.put(Change(lambda state: state.ledger.mark_incomplete(model)))

    def start_prompt_ledger(self) -> None:
        """A new prompt begins a bill of its own."""
        self._mailbox.put(Change(lambda state: state.ledger.start_prompt()))

    async def usage(self) -> UsageReport:
        """The bills so far."""
        return await self._read(lambda state: state.ledger.report())

    async def tokens(self, tools: tuple[ToolSpec, ...] | None = None) -> int:
        """Estimate of the next request in tokens; without `tools`, with those of the last request."""
        return await self._read(lambda state: state.tokens(tools))

    async def items(self) -> tuple[ConversationItem, ...]:
        """The history as it is, calls that still run included."""
        return await self._read(lambda state: state.conversation.items)

    async def next_prompt_index(self) -> int:
        """The index of the next turn."""
        return await self._read(lambda state: state.conversation.next_prompt_index)

    async def flush(self) -> bool:
        """Wait until everything pushed before is written; False when it could not be."""
        reply = self._future(bool)
        self._mailbox.put(Flush(reply))
        return await reply

    async def close(self) -> None:
        """Finish what was accepted, write it, end. Calling it again does nothing."""
        if not self._mailbox.closed:
            self._mailbox.put(Flush(self._future(bool)))
            self._mailbox.close()
        await asyncio.wait([self._task])

    async def _read(self, question: Callable[[ChatState], T]) -> T:
        reply: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._mailbox.put(Read(question, reply))
        return await reply

    def _future(self, _: type[T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().create_future()


def abandon(command: Command) -> None:
    """Tell whoever waits for a command that it will not be answered."""
    if not isinstance(command, PushPrompt | BuildRequest | RepairAfterStop | Flush | Read):
        return
    if not command.reply.done():
        command.reply.set_exception(RuntimeError("the owner of the conversation has ended"))


def settle(reply: asyncio.Future[T], value: T) -> None:
    """Answer, unless whoever asked has gone."""
    if not reply.done():
        reply.set_result(value)


def start_chat(
    items: Sequence[Stored],
    persistence: ChatPersistence,
    *,
    on_repair: Callable[[RepairReport], None],
    on_factor: Callable[[str, float], None] = lambda model, factor: None,
    usage: Mapping[str, Usage] | None = None,
    factors: Mapping[str, float] | None = None,
) -> tuple[ChatHandle, asyncio.Task[None]]:
    """Start the owner of a conversation, repairing what was loaded.

    `usage` is the session's bill so far and `factors` what was learnt of models; `on_factor` is told when a
    model's factor changes. Both callbacks are called in the event loop.
    """
    state = ChatState(items, usage=usage or {}, factors=factors or {})
    actor = ChatStateActor(state, persistence, on_repair=on_repair, on_factor=on_factor)
    actor.load()
    mailbox: Mailbox[Command] = Mailbox()
    task = asyncio.create_task(actor.run(mailbox), name="chat-state")
    return ChatHandle(mailbox, task), task
