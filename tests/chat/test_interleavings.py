"""Whatever is asked in whatever order: the history is valid, and what is saved is what is known."""

from __future__ import annotations

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.chat.actor import ChatHandle, start_chat
from grokmini.chat.repair import repair
from grokmini.protocol.items import (
    AssistantItem,
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

NAMES: tuple[str, ...] = (
    "prompt", "reply", "result", "reasoning", "interject", "system", "request", "stop", "usage", "crash", "drop",
)  # fmt: skip

STEPS = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 7)), max_size=25)


class Run:
    """One session, driven by steps; `crash` goes on with what was saved."""

    def __init__(self) -> None:
        self.persistence = MemoryPersistence()
        self.prompts: list[str] = []
        self.chat, self.task = self._start(())

    def _start(self, items: tuple[Stored, ...]) -> tuple[ChatHandle, asyncio.Task[None]]:
        return start_chat(items, self.persistence, on_event=lambda event: None)

    async def step(self, name: str, number: int) -> None:
        """Do one thing."""
        call_id = f"c{number % 3}"
        match name:
            case "prompt":
                text = f"p{len(self.prompts)}"
                self.prompts.append(text)
                await self.chat.push_prompt(prompt(text, len(self.prompts)))
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
                await self._request()
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

    async def _request(self) -> None:
        sent = await self.chat.build_request(request_id="r", model=MODEL, tools=(), conversation_id="c")
        assert refusal(sent.items) == ""
        systems = [place for place, item in enumerate(sent.items) if isinstance(item, SystemItem)]
        assert systems in ([], [0])


@settings(max_examples=150, derandomize=True, deadline=None)
@given(STEPS)
def test_any_sequence_of_commands_ends_in_a_history_every_format_accepts(steps: list[tuple[str, int]]) -> None:
    async def scenario() -> None:
        run = Run()
        for name, number in steps:
            await run.step(name, number)
        await run.chat.repair_after_stop()
        items = await run.chat.items()
        assert refusal(items) == ""
        assert run.persistence.items == list(items)
        assert not repair(run.persistence.saved).report.changed
        asked = [item.text for item in items if isinstance(item, UserItem) and item.is_real_prompt]
        assert asked == run.prompts
        await run.chat.close()

    asyncio.run(scenario())


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
