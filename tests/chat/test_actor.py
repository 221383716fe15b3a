"""The owner of a conversation: order, borders of repair, figures, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from grokmini.chat.actor import ChatHandle, start_chat
from grokmini.chat.events import ChatEvent, Repaired
from grokmini.chat.repair import ENDED, STOPPED, RepairReport
from grokmini.chat.slimming import DROPPED
from grokmini.protocol.items import (
    AssistantItem,
    ImagePart,
    ReasoningItem,
    Stored,
    SyntheticReason,
    SystemItem,
    ToolResultItem,
    UserItem,
    user_text,
)
from grokmini.protocol.model import ModelRequest, Usage
from grokmini.protocol.tools import ToolSpec
from tests.chat.histories import MODEL, MemoryPersistence, assistant, prompt, refusal, result, stored

TOOL = ToolSpec("grep", "Search.", msgspec.Raw(b'{"type":"object"}'))


class Ground:
    """A started chat with everything it told."""

    def __init__(self, items: Sequence[Stored] = (), *, works: bool = True) -> None:
        self.persistence = MemoryPersistence(items, works=works)
        self.events: list[ChatEvent] = []
        self.factors: list[tuple[str, float]] = []
        self.chat, self.task = start_chat(
            items,
            self.persistence,
            on_event=self.events.append,
            on_factor=lambda model, factor: self.factors.append((model, factor)),
        )

    @property
    def repairs(self) -> list[RepairReport]:
        """What was repaired."""
        return [event.report for event in self.events if isinstance(event, Repaired)]


async def ask(chat: ChatHandle, *, tools: tuple[ToolSpec, ...] = (), model: str = "demo") -> ModelRequest:
    """Build a request."""
    spec = msgspec.structs.replace(MODEL, name=model)
    return await chat.build_request(request_id="r", model=spec, tools=tools, conversation_id="c")


async def test_a_read_sees_every_write_before_it() -> None:
    chat = Ground().chat
    acknowledged = chat.push_prompt(prompt("a", 0))
    chat.push(AssistantItem("b"))
    assert await chat.items() == (prompt("a", 0), AssistantItem("b"))
    assert await acknowledged
    await chat.close()


async def test_a_prompt_is_acknowledged_when_it_is_durable() -> None:
    ground = Ground()
    assert await ground.chat.push_prompt(prompt("a", 0))
    assert ground.persistence.durable == 1
    assert ground.persistence.items == [prompt("a", 0)]
    await ground.chat.close()


async def test_a_prompt_that_could_not_be_saved_is_in_the_history_all_the_same() -> None:
    ground = Ground(works=False)
    assert not await ground.chat.push_prompt(prompt("a", 0))
    assert await ground.chat.items() == (prompt("a", 0),)
    await ground.chat.close()


async def test_the_system_prompt_comes_first_and_only_once() -> None:
    ground = Ground()
    ground.chat.push(SystemItem("one"))
    ground.chat.push(prompt("a", 0))
    ground.chat.push(SystemItem("two"))
    ground.chat.replace_system("two")
    assert await ground.chat.items() == (SystemItem("two"), prompt("a", 0))
    assert ground.persistence.items == [SystemItem("two"), prompt("a", 0)]
    assert ground.persistence.rewrites == 1
    await ground.chat.close()


async def test_a_history_without_a_system_prompt_gets_one_at_its_head() -> None:
    ground = Ground(stored(prompt("a", 0)))
    ground.chat.replace_system("s")
    assert await ground.chat.items() == (SystemItem("s"), prompt("a", 0))
    await ground.chat.close()


async def test_loading_repairs_and_appends_what_was_missing_at_the_end() -> None:
    ground = Ground(stored(prompt("a", 0), assistant("1")))
    assert ground.repairs == [RepairReport(results_added=1)]
    assert ground.persistence.items[2] == ToolResultItem("1", ENDED, ENDED, "cancelled")
    assert ground.persistence.rewrites == 0
    await ground.chat.close()


async def test_a_repair_in_the_middle_is_saved_whole() -> None:
    ground = Ground(stored(assistant("1"), prompt("a", 0)))
    assert ground.persistence.rewrites == 1
    assert refusal(ground.persistence.items) == ""
    await ground.chat.close()


async def test_reading_while_a_call_runs_repairs_nothing() -> None:
    ground = Ground()
    await ground.chat.push_prompt(prompt("a", 0))
    ground.chat.push(assistant("1"))
    await ground.chat.items()
    await ground.chat.tokens()
    ground.chat.push(result("1"))
    await ask(ground.chat)
    assert ground.repairs == []
    await ground.chat.close()


@pytest.mark.parametrize("border", ["prompt", "request", "stop"])
async def test_the_other_borders_repair_save_and_report(border: str) -> None:
    ground = Ground()
    ground.chat.push(assistant("1"))
    if border == "prompt":
        await ground.chat.push_prompt(prompt("b", 1))
    elif border == "request":
        assert refusal((await ask(ground.chat)).items) == ""
    else:
        assert (await ground.chat.repair_after_stop()).results_added == 1
    assert ground.repairs == [RepairReport(results_added=1)]
    assert ground.persistence.items[1] == ToolResultItem("1", STOPPED, STOPPED, "cancelled")
    await ground.chat.close()


async def test_unusable_images_are_left_out_at_load_and_that_is_told() -> None:
    picture = UserItem((ImagePart("image/tiff", "AAAA"),), prompt_index=0)
    ground = Ground(stored(picture))
    assert ground.repairs == [RepairReport(images_dropped=1)]
    assert ground.persistence.rewrites == 1
    await ground.chat.close()


async def test_prompt_indexes_go_on_from_the_highest_whatever_was_dropped() -> None:
    shell = user_text("!ls", reason=SyntheticReason.SHELL_ESCAPE, prompt_index=7)
    ground = Ground(stored(prompt("a", 4), shell))
    assert await ground.chat.next_prompt_index() == 8
    await ground.chat.close()
    fresh = Ground()
    assert await fresh.chat.next_prompt_index() == 0
    await fresh.chat.close()


async def test_old_results_are_dropped_and_the_file_is_rewritten_now_and_then() -> None:
    ground = Ground()
    for index in range(40):
        await ground.chat.push_prompt(prompt(f"p{index}", index))
        ground.chat.push(assistant(f"c{index}"))
        ground.chat.push(result(f"c{index}", "x" * 1_000))
    items = await ground.chat.items()
    kept = [item for item in items if isinstance(item, ToolResultItem) and item.prompt_text != DROPPED]
    assert 10 < len(kept) <= 16
    assert ground.persistence.items == list(items)
    assert ground.persistence.rewrites == 5
    await ground.chat.close()


async def test_the_next_request_is_estimated_from_the_report_and_what_came_after_the_reply() -> None:
    ground = Ground()
    await ground.chat.push_prompt(prompt("x" * 400, 0))
    await ask(ground.chat, tools=(TOOL,))
    ground.chat.push(ReasoningItem("hm" * 100))
    ground.chat.push(assistant("1", text="y" * 100))
    ground.chat.record_usage("demo", Usage(calls=1, input=200, cached_input=50, output=30))
    assert await ground.chat.tokens() == 280
    ground.chat.push(result("1", "z" * 400))
    (_, factor) = ground.factors[0]
    assert await ground.chat.tokens() == 280 + round(100 * factor)
    await ground.chat.close()


async def test_the_order_of_report_and_reply_does_not_matter() -> None:
    figures = []
    for report_first in (True, False):
        ground = Ground()
        await ground.chat.push_prompt(prompt("x" * 400, 0))
        await ask(ground.chat)
        if not report_first:
            ground.chat.push(AssistantItem("y" * 100))
        ground.chat.record_usage("demo", Usage(calls=1, input=100, output=25))
        if report_first:
            ground.chat.push(AssistantItem("y" * 100))
        figures.append(await ground.chat.tokens())
        await ground.chat.close()
    assert figures == [125, 125]


async def test_a_report_teaches_the_factor_of_the_model_asked() -> None:
    ground = Ground()
    await ground.chat.push_prompt(prompt("x" * 400, 0))
    await ask(ground.chat)
    ground.chat.record_usage("demo", Usage(calls=1, input=150))
    ground.chat.record_usage("demo", Usage(calls=1, input=1_000))
    await ground.chat.flush()
    assert ground.factors == [("demo", 1.5)]
    await ground.chat.close()


async def test_another_model_is_estimated_without_the_first_ones_report() -> None:
    ground = Ground()
    await ground.chat.push_prompt(prompt("x" * 400, 0))
    await ask(ground.chat)
    ground.chat.record_usage("demo", Usage(calls=1, input=300))
    await ask(ground.chat, model="other")
    assert await ground.chat.tokens() == 100
    await ground.chat.close()


async def test_before_the_first_request_the_offered_tools_count() -> None:
    ground = Ground()
    ground.chat.push(prompt("x" * 400, 0))
    without = await ground.chat.tokens()
    assert await ground.chat.tokens((TOOL,)) > without == 100
    await ground.chat.close()


async def test_usage_is_kept_by_prompt_and_session() -> None:
    ground = Ground()
    ground.chat.start_prompt_ledger()
    ground.chat.record_usage("demo", Usage(calls=1, input=5))
    ground.chat.mark_usage_incomplete("demo")
    report = await ground.chat.usage()
    assert report.prompt == report.session == {"demo": Usage(calls=2, input=5, incomplete=True)}
    await ground.chat.close()


async def test_closing_finishes_what_was_accepted_and_can_be_repeated() -> None:
    ground = Ground()
    for index in range(50):
        ground.chat.push(prompt(f"p{index}", index))
    await ground.chat.close()
    await ground.chat.close()
    assert len(ground.persistence.saved) == 50
    assert ground.task.done()
    with pytest.raises(RuntimeError):
        ground.chat.push(prompt("late", 99))


async def test_a_cancelled_owner_still_saves_what_it_accepted() -> None:
    ground = Ground()
    await ground.chat.items()
    ground.chat.push(prompt("a", 0))
    ground.task.cancel()
    await asyncio.wait([ground.task])
    assert ground.persistence.items == [prompt("a", 0)]


async def test_a_caller_who_has_gone_disturbs_nobody() -> None:
    ground = Ground()
    reading = asyncio.ensure_future(ground.chat.items())
    await asyncio.sleep(0)
    reading.cancel()
    acknowledged = asyncio.ensure_future(ground.chat.push_prompt(prompt("a", 0)))
    acknowledged.cancel()
    assert await ground.chat.items() == (prompt("a", 0),)
    await ground.chat.close()


class BrokenPersistence(MemoryPersistence):
    """Fails where nothing may fail."""

    def append(self, stored: Stored) -> None:
        """Break."""
        raise AssertionError("broken on purpose")


async def test_nobody_waits_for_an_owner_that_died() -> None:
    chat, task = start_chat((), BrokenPersistence(), on_event=lambda event: None)
    ended = await asyncio.gather(chat.push_prompt(prompt("a", 0)), chat.items(), task, return_exceptions=True)
    assert [type(outcome) for outcome in ended] == [RuntimeError, RuntimeError, AssertionError]
