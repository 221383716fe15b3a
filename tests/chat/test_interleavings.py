"""Whatever is asked in whatever order: the history is valid, and what is saved is what is known."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.chat.actor import ChatHandle, start_chat
from grokmini.chat.repair import repair
from grokmini.chat.snapshot import ChatStateSnapshot, decode_snapshot, encode_snapshot
from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    ReasoningItem,
    Stored,
    SyntheticReason,
    SystemItem,
    ToolResultItem,
    UserItem,
    user_text,
)
from grokmini.protocol.model import Usage
from tests.chat.histories import MODEL, MemoryPersistence, assistant, prompt, refusal, result
from tests.chat.wire_formats import request_refusal

NAMES: tuple[str, ...] = (
    "prompt", "reply", "result", "reasoning", "interject", "system", "request", "stop", "usage", "crash", "drop",
    "compact", "truncate", "snapshot", "restore", "model", "cancel",
)  # fmt: skip

STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 7)), max_size=25)

FULL_EXAMPLES, SMALL_EXAMPLES = 5_000, 100


class Run:
    """One session, driven by steps; `crash` goes on with what was saved."""

    def __init__(self) -> None:
        self.persistence = MemoryPersistence()
        self.prompts: list[tuple[int, str]] = []
        self.kept: tuple[ChatStateSnapshot, list[tuple[int, str]]] | None = None
        self.chat, self.task = self._start(())

    def _start(self, items: tuple[Stored, ...]) -> tuple[ChatHandle, asyncio.Task[None]]:
        return start_chat(items, self.persistence, on_event=lambda event: None)

    async def step(self, name: str, number: int) -> None:
        """Do one thing."""
        call_id = f"c{number % 3}"
        match name:
            case "prompt":
                index = await self.chat.next_prompt_index()
                self.prompts.append((index, f"p{index} {number}"))
                await self.chat.push_prompt(prompt(self.prompts[-1][1], index))
            case "reply":
                self.chat.push(assistant(*(f"c{n}" for n in range(number % 4))))
            case "result":
                self.chat.push(result(call_id, "x" * 200 * number))
            case "reasoning":
                self.chat.push(ReasoningItem("hm"))
            case "interject":
                self.chat.push(user_text("w", reason=SyntheticReason.INTERJECTION))
            case "system":
                self.chat.replace_system(f"s{number}")
            case "request":
                await self.request()
            case "stop":
                await self.chat.repair_after_stop()
                assert refusal(await self.chat.items()) == ""
            case "usage":
                self.chat.record_usage("demo", Usage(calls=1, input=number))
            case "crash":
                self.task.cancel()
                await asyncio.wait([self.task])
                self.chat, self.task = self._start(tuple(self.persistence.saved))
                assert refusal(await self.chat.items()) == ""
            case "drop":
                asyncio.ensure_future(self.chat.tokens()).cancel()
            case _:
                await self._rewrite(name, number)

    async def _rewrite(self, name: str, number: int) -> None:
        match name:
            case "compact":
                items = await self.chat.items()
                first = [item for item in items if isinstance(item, SystemItem)]
                words = [item for item in items if isinstance(item, UserItem) and item.is_real_prompt]
                summary = user_text("sum", reason=SyntheticReason.COMPACTION_SUMMARY)
                tail = [item for item in items[-number:] if item not in (*first, *words)] if number else []
                await self.chat.replace_history([*first, *words, summary, *tail])
            case "truncate":
                if any(index == number for index, _ in self.prompts):
                    place = next(place for place, pair in enumerate(self.prompts) if pair[0] == number)
                    assert await self.chat.truncate(number) > 0
                    del self.prompts[place:]
                    assert await self.chat.next_prompt_index() <= number
            case "snapshot":
                taken = encode_snapshot(await self.chat.snapshot())
                self.kept = decode_snapshot(taken), list(self.prompts)
            case "restore":
                if self.kept is not None:
                    assert await self.chat.restore(self.kept[0])
                    self.prompts = list(self.kept[1])
            case "model":
                self.chat.set_model(msgspec.structs.replace(MODEL, context_window=100 * (number + 1)))
            case "cancel":
                asking = asyncio.ensure_future(self.request())
                index = await self.chat.next_prompt_index()
                self.prompts.append((index, f"cancelled {index}"))
                acknowledged = self.chat.push_prompt(prompt(f"cancelled {index}", index))
                asking.cancel()
                asyncio.ensure_future(acknowledged).cancel()

    async def request(self) -> None:
        """Build one and have it judged."""
        sent = await self.chat.build_request(request_id="r", model=MODEL, tools=(), conversation_id="c")
        assert request_refusal(sent.items) == ""


def _texts(items: Sequence[ConversationItem]) -> list[str]:
    return [item.text for item in items if isinstance(item, UserItem) and item.is_real_prompt]


def test_any_sequence_of_commands_ends_in_a_history_every_format_accepts(full: bool) -> None:
    @settings(max_examples=FULL_EXAMPLES if full else SMALL_EXAMPLES, database=None)
    @given(STEPS)
    def assert_accepted(steps: list[tuple[str, int]]) -> None:
        asyncio.run(assert_accepted_after(steps))

    assert_accepted()


async def assert_accepted_after(steps: list[tuple[str, int]]) -> None:
    """The history that these commands leave is whole, saved, needs no repair and makes a request."""
    run = Run()
    for name, number in steps:
        await run.step(name, number)
    await run.chat.repair_after_stop()
    items = await run.chat.items()
    assert refusal(items) == ""
    assert run.persistence.items == list(items)
    assert not repair(run.persistence.saved).report.changed
    assert _texts(items) == [text for _, text in run.prompts]
    await run.request()
    await run.chat.close()


def test_results_that_finish_in_any_order_are_sent_in_the_order_of_the_calls() -> None:
    async def scenario() -> None:
        run = Run()
        ids = [f"c{number}" for number in range(20)]
        run.chat.push(assistant(*ids))
        for call_id in reversed(ids):
            run.chat.push(result(call_id))
        sent = await run.chat.build_request(request_id="r", model=MODEL, tools=(), conversation_id="c")
        answered = [item.call_id for item in sent.items if isinstance(item, ToolResultItem)]
        assert answered == ids
        assert isinstance(sent.items[0], AssistantItem)
        await run.chat.close()

    asyncio.run(scenario())
