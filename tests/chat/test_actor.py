"""The owner of a conversation: order, borders of repair, figures, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec
import pytest

from grokmini.chat.actor import ChatHandle, start_chat
from grokmini.chat.events import ChatEvent, CompactionApplied, ConversationReset, Repaired, TokensUpdated
from grokmini.chat.repair import ENDED, STOPPED, RepairReport
from grokmini.chat.slimming import DROPPED
from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    Stored,
    SyntheticReason,
    SystemItem,
    ToolResultItem,
    UnknownItem,
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


async def test_nothing_but_a_border_takes_a_call_that_runs_for_one_that_was_interrupted() -> None:
    ground = Ground()
    await ground.chat.push_prompt(prompt("a", 0))
    ground.chat.push(assistant("1", "2"))
    ground.chat.push(result("2"))
    ground.chat.push(user_text("and this", reason=SyntheticReason.INTERJECTION))
    ground.chat.push(ReasoningItem("hm"))
    ground.chat.replace_system("another")
    ground.chat.set_model(MODEL)
    ground.chat.record_usage("demo", Usage(calls=1, input=5))
    ground.chat.start_prompt_ledger()
    await ground.chat.snapshot()
    await ground.chat.context(MODEL, ())
    await ground.chat.usage()
    await ground.chat.next_prompt_index()
    assert await ground.chat.flush(durable=True)
    assert ground.repairs == []
    assert [i for i in await ground.chat.items() if isinstance(i, ToolResultItem)] == [result("2")]
    await ground.chat.close()
    assert ground.repairs == []
    assert [i for i in ground.persistence.items if isinstance(i, ToolResultItem)] == [result("2")]


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


async def test_usage_of_other_work_has_its_own_row_and_is_no_measure_of_the_conversation() -> None:
    ground = Ground()
    await ground.chat.push_prompt(prompt("x" * 400, 0))
    await ask(ground.chat)
    ground.chat.record_usage("demo", Usage(calls=1, input=5_000), work="title")
    ground.chat.mark_usage_incomplete("demo", "title")
    assert await ground.chat.tokens() == 100
    ground.chat.record_usage("demo", Usage(calls=1, input=150))
    report = await ground.chat.usage()
    assert report.rows == {
        "title": {"demo": Usage(calls=2, input=5_000, incomplete=True)},
        "main": {"demo": Usage(calls=1, input=150)},
    }
    assert report.session == {"demo": Usage(calls=3, input=5_150, incomplete=True)}
    assert report.prompt == {"demo": Usage(calls=1, input=150)}
    await ground.chat.close()


async def test_a_subagent_still_at_work_marks_the_report_until_it_ends() -> None:
    ground = Ground()
    ground.chat.start_prompt_ledger()
    ground.chat.expect_usage("agent-1")
    report = await ground.chat.usage()
    assert (report.outstanding, report.incomplete) == (1, True)
    ground.chat.arrive_usage("agent-1", {"small": Usage(calls=3, input=9)})
    report = await ground.chat.usage()
    assert (report.outstanding, report.incomplete) == (0, False)
    assert report.prompt == report.session == {"small": Usage(calls=3, input=9)}
    await ground.chat.close()


async def test_a_compaction_replaces_the_history_on_disk_and_tells_before_and_after() -> None:
    future = Stored(user_text("?", reason=SyntheticReason.UNKNOWN), b'{"type":"user","from":"the future"}')
    odd = Stored(UnknownItem("hologram"), b'{"type":"hologram","x":1}')
    ground = Ground([future, odd, *stored(prompt("x" * 4_000, 0), AssistantItem("y"))])
    items = await ground.chat.items()
    summary = user_text("s" * 40, reason=SyntheticReason.COMPACTION_SUMMARY)
    assert await ground.chat.replace_history([items[0], items[1], items[2], summary])
    assert ground.persistence.saved == [future, odd, *stored(prompt("x" * 4_000, 0), summary)]
    assert (ground.persistence.rewrites, ground.persistence.durable) == (1, 1)
    applied = CompactionApplied(tokens_before=1_002, tokens_after=1_011, items_before=4, items_after=4)
    assert [event for event in ground.events if isinstance(event, CompactionApplied)] == [applied]
    assert await ground.chat.next_prompt_index() == 1
    await ground.chat.close()


async def test_indexes_of_prompts_that_a_compaction_took_are_not_given_out_again() -> None:
    ground = Ground(stored(prompt("a", 0), prompt("b", 5)))
    await ground.chat.replace_history([prompt("a", 0)])
    assert await ground.chat.next_prompt_index() == 6
    await ground.chat.close()


async def test_an_unknown_item_from_elsewhere_cannot_replace_anything() -> None:
    ground = Ground(stored(prompt("a", 0)))
    with pytest.raises(ValueError, match="unknown kind"):
        await ground.chat.replace_history([UnknownItem("hologram")])
    assert await ground.chat.items() == (prompt("a", 0),)
    await ground.chat.close()


async def test_truncating_drops_a_prompt_and_all_after_it_and_frees_its_index() -> None:
    ground = Ground(
        stored(prompt("a", 0), AssistantItem("x"), prompt("b", 1), AssistantItem("y"), prompt("c", 2))
    )
    assert await ground.chat.truncate(1) == 3
    assert ground.persistence.items == [prompt("a", 0), AssistantItem("x")]
    assert ground.events[-1] == ConversationReset(2)
    assert await ground.chat.next_prompt_index() == 1
    await ground.chat.close()


async def test_truncating_at_a_prompt_that_is_not_there_changes_nothing_and_names_those_that_are() -> None:
    ground = Ground(stored(prompt("a", 2), prompt("b", 3)))
    with pytest.raises(ValueError, match="2 to 3"):
        await ground.chat.truncate(1)
    assert ground.persistence.rewrites == 0
    assert len(await ground.chat.items()) == 2
    await ground.chat.close()


async def test_a_model_with_another_window_is_told_with_the_figure_that_counts_for_it() -> None:
    ground = Ground(stored(prompt("x" * 400, 0)))
    ground.chat.set_model(msgspec.structs.replace(MODEL, context_window=8_000))
    await ground.chat.flush()
    assert ground.events == [TokensUpdated(100, 8_000)]
    await ground.chat.close()


async def test_a_report_is_told_as_a_new_figure() -> None:
    ground = Ground()
    await ground.chat.push_prompt(prompt("x" * 400, 0))
    await ask(ground.chat)
    ground.chat.record_usage("demo", Usage(calls=1, input=150, output=7))
    await ground.chat.flush()
    assert ground.events == [TokensUpdated(157, MODEL.context_window)]
    await ground.chat.close()


async def test_a_repair_is_told_with_its_number_and_reasons() -> None:
    ground = Ground(stored(result("9"), assistant("1")))
    (told,) = [event for event in ground.events if isinstance(event, Repaired)]
    assert told.number == 2
    assert told.reasons == ("interrupted call given a result (1)", "result without a call removed (1)")
    await ground.chat.close()


async def test_dropping_old_results_takes_their_part_of_the_estimate_away() -> None:
    items: list[ConversationItem] = []
    for index in range(15):
        items += [prompt("p", index), assistant(f"c{index}"), result(f"c{index}", "x" * 4_000)]
    ground = Ground(stored(*items))
    await ask(ground.chat)
    ground.chat.push(AssistantItem("done"))
    ground.chat.record_usage("demo", Usage(calls=1, input=20_000, output=2))
    assert await ground.chat.tokens() == 20_002
    await ground.chat.push_prompt(prompt("pppp", 15))
    dropped = [item for item in await ground.chat.items() if item == result("c0", DROPPED)]
    assert len(dropped) == 1
    saved = 5 * (1_000 - -(-len(DROPPED) // 4)) - 1
    (_, factor) = ground.factors[0]
    assert await ground.chat.tokens() == 20_002 - round(saved * factor)
    await ground.chat.close()


async def test_pending_results_and_other_tools_count_for_the_next_request() -> None:
    ground = Ground()
    await ground.chat.push_prompt(prompt("x" * 400, 0))
    await ask(ground.chat, tools=())
    ground.chat.push(assistant("1"))
    ground.chat.record_usage("demo", Usage(calls=1, input=100, output=10))
    ground.chat.push(result("1", "z" * 400))
    without = await ground.chat.tokens()
    assert without == 110 + 100
    assert await ground.chat.tokens((TOOL,)) == without + -(-len(msgspec.json.encode(TOOL)) // 4)
    await ground.chat.close()


async def test_flushing_can_wait_for_the_disk_itself() -> None:
    ground = Ground()
    ground.chat.push(prompt("a", 0))
    assert await ground.chat.flush()
    assert ground.persistence.durable == 0
    assert await ground.chat.flush(durable=True)
    assert ground.persistence.durable == 1
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
