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
    ReplaceHistory,
    ReplaceSystem,
    Restore,
    SetModel,
    Truncate,
)
from grokmini.chat.context import ContextReport
from grokmini.chat.events import ChatEvent, CompactionApplied, ConversationReset, Repaired, TokensUpdated
from grokmini.chat.images import drop_unusable
from grokmini.chat.ledger import UsageReport, Work
from grokmini.chat.ports import ChatPersistence
from grokmini.chat.repair import ENDED, STOPPED, RepairReport
from grokmini.chat.slimming import HARD_CLEAR_AGE_TURNS
from grokmini.chat.snapshot import ChatStateSnapshot
from grokmini.protocol.errors import SessionError
from grokmini.protocol.items import ConversationItem, Stored, SystemItem, UserItem
from grokmini.protocol.model import ModelRequest, ModelSpec, Usage
from grokmini.protocol.tools import ToolSpec

T = TypeVar("T")

_AWAITED = (PushPrompt, ReplaceHistory, Truncate, Restore, BuildRequest, RepairAfterStop, Flush, Read)
_REFUSABLE = (ReplaceHistory, Truncate, Restore)
"""What may be asked wrongly: the error goes to whoever asked, and nothing has changed."""


class ChatStateActor:
    """Owns the conversation and its persistence. Repairs run here, at the four borders, and nowhere else."""

    def __init__(
        self,
        state: ChatState,
        persistence: ChatPersistence,
        *,
        on_event: Callable[[ChatEvent], None],
        on_factor: Callable[[str, float], None],
    ) -> None:
        self._state = state
        self._persistence = persistence
        self._on_event = on_event
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
        except (ValueError, SessionError) as error:
            if not isinstance(command, _REFUSABLE):
                abandon(command)
                raise
            refuse(command, error)
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
            case ReplaceHistory():
                await self._replace_history(command)
            case Truncate():
                self._truncate(command)
            case Restore():
                await self._restore(command)
            case SetModel():
                self._state.set_model(command.model)
                self._tell_tokens()
            case BuildRequest():
                self._build(command)
            case RepairAfterStop():
                settle(command.reply, self._repair())
            case RecordUsage():
                self._record_usage(command)
            case Change():
                command.apply(self._state)
            case Read():
                if not command.reply.done():
                    command.reply.set_result(command.question(self._state))
            case Flush():
                settle(command.reply, await self._persistence.flush(durable=command.durable))
            case _:
                assert_never(command)

    async def _push_prompt(self, command: PushPrompt) -> None:
        self._repair()
        self._persistence.append(self._state.push(command.item))
        settle(command.reply, await self._persistence.flush(durable=True))
        if self._state.conversation.clear_old_results():
            self._rewrite()

    def _push(self, item: ConversationItem) -> None:
        if isinstance(item, SystemItem):
            self._replace_system(item.text)
        else:
            self._persistence.append(self._state.push(item))

    async def _replace_history(self, command: ReplaceHistory) -> None:
        state = self._state
        tokens, length = state.tokens(), len(state.conversation)
        state.conversation.replace_items(command.items)
        state.start_anew()
        self._rewrite()
        self._on_event(CompactionApplied(tokens, state.tokens(), length, len(state.conversation)))
        settle(command.reply, await self._persistence.flush(durable=True))

    def _truncate(self, command: Truncate) -> None:
        dropped = self._state.conversation.truncate(command.prompt_index)
        self._reset()
        settle(command.reply, dropped)

    async def _restore(self, command: Restore) -> None:
        self._state.restore(command.snapshot)
        self._reset()
        settle(command.reply, await self._persistence.flush(durable=True))

    def _reset(self) -> None:
        """The history is another one than people have seen."""
        self._rewrite()
        self._on_event(ConversationReset(len(self._state.conversation)))

    def _record_usage(self, command: RecordUsage) -> None:
        learnt = self._state.record_usage(command.model, command.usage, command.estimate, command.work)
        if learnt is not None:
            self._on_factor(learnt.model, learnt.factor)
        if command.work == "main":
            self._tell_tokens()

    def _tell_tokens(self) -> None:
        self._on_event(TokensUpdated(self._state.tokens(), self._state.window))

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
            self._on_event(Repaired(repair.report))
        return repair.report

    def _rewrite(self) -> None:
        self._persistence.replace(self._state.conversation.stored)
        self._tell_tokens()

    def load(self) -> None:
        """The first border: what a crash left is made valid and saved."""
        conversation = self._state.conversation
        images = drop_unusable(conversation.stored)
        if images.images:
            conversation.replace(images.items)
            self._rewrite()
            self._on_event(Repaired(RepairReport(images_dropped=images.images)))
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

    def replace_history(self, items: Sequence[ConversationItem]) -> Awaitable[bool]:
        """Put a compaction's history in place of this one; the awaitable tells whether it is saved for good.

        Items that are in the history now keep the lines they were read from. The awaitable raises `ValueError`
        for one of an unknown kind that is not.
        """
        reply = self._future(bool)
        self._mailbox.put(ReplaceHistory(tuple(items), reply))
        return reply

    async def truncate(self, prompt_index: int) -> int:
        """Drop the turn of that prompt and all after it; how many items went. No turn may be running.

        Raises `ValueError` naming the prompts that are there.
        """
        reply = self._future(int)
        self._mailbox.put(Truncate(prompt_index, reply))
        return await reply

    async def snapshot(self) -> ChatStateSnapshot:
        """The conversation in one piece, for a fork or a rewind."""
        return await self._read(lambda state: state.snapshot())

    async def restore(self, snapshot: ChatStateSnapshot) -> bool:
        """Be what the snapshot holds; whether that is saved. The bills stay: spent is spent. No turn may be running.

        Raises `SessionError` for a damaged one, and nothing has changed then.
        """
        reply = self._future(bool)
        self._mailbox.put(Restore(snapshot, reply))
        return await reply

    def set_model(self, model: ModelSpec) -> None:
        """The model, and with it the window, that counts from now on."""
        self._mailbox.put(SetModel(model))

    async def repair_after_stop(self) -> RepairReport:
        """To be called when the runtime has stopped a turn and all its calls."""
        reply = self._future(RepairReport)
        self._mailbox.put(RepairAfterStop(reply))
        return await reply

    def record_usage(
        self, model: str, usage: Usage, *, estimate: int | None = None, work: Work = "main"
    ) -> None:
        """Enter what a provider reported. The main loop's first report after `build_request` is about that
        request; `estimate` (tokens) is taken instead of the estimate made then.
        """
        self._mailbox.put(RecordUsage(model, usage, estimate, work))

    def mark_usage_incomplete(self, model: str, work: Work = "main") -> None:
        """A call was made whose figure is lost: the bills lack it for good."""
        self._mailbox.put(Change(lambda state: state.ledger.mark_incomplete(model, work)))

    def expect_usage(self, job: str) -> None:
        """A subagent works; until `arrive_usage` the reports say that something is still to come."""
        self._mailbox.put(Change(lambda state: state.ledger.expect(job)))

    def arrive_usage(self, job: str, usage: Mapping[str, Usage]) -> None:
        """What a subagent spent in all, by model."""
        self._mailbox.put(Change(lambda state: state.ledger.arrive(job, usage)))

    def start_prompt_ledger(self) -> None:
        """A new prompt begins a bill of its own."""
        self._mailbox.put(Change(lambda state: state.ledger.start_prompt()))

    async def usage(self) -> UsageReport:
        """The bills so far."""
        return await self._read(lambda state: state.ledger.report())

    async def tokens(self, tools: tuple[ToolSpec, ...] | None = None) -> int:
        """Estimate of the next request in tokens; without `tools`, with those of the last request."""
        return await self._read(lambda state: state.tokens(tools))

    async def context(self, model: ModelSpec, tools: tuple[ToolSpec, ...]) -> ContextReport:
        """What the next request to that model would be made of, by category."""
        return await self._read(lambda state: state.context(model, tools))

    async def items(self) -> tuple[ConversationItem, ...]:
        """The history as it is, calls that still run included."""
        return await self._read(lambda state: state.conversation.items)

    async def next_prompt_index(self) -> int:
        """The index of the next turn."""
        return await self._read(lambda state: state.conversation.next_prompt_index)

    async def flush(self, *, durable: bool = False) -> bool:
        """Wait until everything pushed before is written, with `durable` until it is on the disk itself.

        False when it could not be.
        """
        reply = self._future(bool)
        self._mailbox.put(Flush(durable, reply))
        return await reply

    async def close(self) -> None:
        """Finish what was accepted, write it, end. Calling it again does nothing."""
        if not self._mailbox.closed:
            self._mailbox.put(Flush(False, self._future(bool)))
            self._mailbox.close()
        await asyncio.wait([self._task])

    async def _read(self, question: Callable[[ChatState], T]) -> T:
        reply: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._mailbox.put(Read(question, reply))
        return await reply

    def _future(self, _: type[T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().create_future()


def refuse(command: Command, error: Exception) -> None:
    """Hand an error to whoever waits for a command."""
    if isinstance(command, _AWAITED) and not command.reply.done():
        command.reply.set_exception(error)


def abandon(command: Command) -> None:
    """Tell whoever waits for a command that it will not be answered."""
    refuse(command, RuntimeError("the owner of the conversation has ended"))


def settle(reply: asyncio.Future[T], value: T) -> None:
    """Answer, unless whoever asked has gone."""
    if not reply.done():
        reply.set_result(value)


def start_chat(
    items: Sequence[Stored],
    persistence: ChatPersistence,
    *,
    on_event: Callable[[ChatEvent], None],
    on_factor: Callable[[str, float], None] = lambda model, factor: None,
    usage: Mapping[str, Mapping[str, Usage]] | None = None,
    factors: Mapping[str, float] | None = None,
    clear_age: int = HARD_CLEAR_AGE_TURNS,
) -> tuple[ChatHandle, asyncio.Task[None]]:
    """Start the owner of a conversation, repairing what was loaded.

    `usage` is the session's bill so far, by kind of work and model, and `factors` what was learnt of models;
    `on_factor` is told when a model's factor changes. Both callbacks are called in the event loop. Results older
    than `clear_age` real turns are dropped from the history.
    """
    state = ChatState(items, usage=usage or {}, factors=factors or {}, clear_age=clear_age)
    actor = ChatStateActor(state, persistence, on_event=on_event, on_factor=on_factor)
    actor.load()
    mailbox: Mailbox[Command] = Mailbox()
    task = asyncio.create_task(actor.run(mailbox), name="chat-state")
    return ChatHandle(mailbox, task), task
