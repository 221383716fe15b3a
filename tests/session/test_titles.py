"""What a session is called, and by whom."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from grokmini.protocol import commands, events
from grokmini.protocol.items import AssistantItem, ConversationItem, SyntheticReason, user_text
from grokmini.protocol.model import ModelSpec, Usage
from grokmini.session.titles import may_be_asked, title_request
from grokmini.store.summary import Summary, read_summary
from tests.fakes.model_server import ModelServer, Recorded, Reply, failure, reply, usage_of
from tests.session.sessions import Driver, session
from tests.waiting import SECONDS


def is_about_a_title(request: Recorded) -> bool:
    """Whether this is the small request beside the conversation."""
    return bool(request.body["messages"][0]["content"].startswith("You give a coding session a title"))


def answering(
    title: Callable[[], Reply], turn: Callable[[], Reply] = lambda: reply("ok")
) -> Callable[[Recorded], Reply]:
    """A server that answers turns and requests for titles, each in its own way."""
    return lambda request: title() if is_about_a_title(request) else turn()


def summary_of(driver: Driver) -> Summary:
    """The summary as it is on disk."""
    summary = read_summary(driver.wired.directory)
    assert summary is not None
    return summary


def asked_for_titles(server: ModelServer) -> int:
    """How often a title was asked for."""
    return sum(is_about_a_title(request) for request in server.requests if request.method == "POST")


async def test_a_model_is_asked_after_the_first_turn_and_once_more_after_the_third(tmp_path: Path) -> None:
    titles = iter(["First name", "Better name", "never asked for"])
    with ModelServer(answering(lambda: reply(next(titles)))) as server:
        async with session(tmp_path, server, titles=True) as driver:
            await driver.ask("one")
            assert await driver.until(events.TitleChanged) == events.TitleChanged("First name", "generated")
            await driver.ask("two")
            await driver.ask("three")
            assert await driver.until(events.TitleChanged) == events.TitleChanged("Better name", "generated")
            await driver.ask("four")
        assert asked_for_titles(server) == 2
        assert (summary_of(driver).title, summary_of(driver).title_source) == ("Better name", "generated")


async def test_the_request_is_small_apart_and_leaves_no_trace_in_the_conversation(tmp_path: Path) -> None:
    with ModelServer(answering(lambda: reply("A name", usage=usage_of(40, 4)))) as server:
        async with session(tmp_path, server, titles=True) as driver:
            await driver.ask("fix the build")
            await driver.until(events.TitleChanged)
            bill = await driver.wired.chat.usage()
        _, title = server.bodies
        assert "tools" not in title
        assert "fix the build" in title["messages"][1]["content"]
        assert "A name" not in str(driver.history())
        assert bill.rows["title"]["fake-model"].total == 44
        assert bill.rows["main"]["fake-model"].calls == 1
        assert summary_of(driver).usage_rows["title"] == {"fake-model": Usage(calls=1, input=40, output=4)}
        assert summary_of(driver).usage["fake-model"].calls == 2


@pytest.mark.parametrize("answer", [reply("..."), reply(""), failure(400, {"error": {"message": "no"}})])
async def test_without_a_good_title_the_first_prompts_line_stays(tmp_path: Path, answer: Reply) -> None:
    with ModelServer(answering(lambda: answer)) as server:
        async with session(tmp_path, server, titles=True) as driver:
            await driver.ask("fix the build\nplease")
            for prompt in ("two", "three"):
                await driver.ask(prompt)
        assert driver.of(events.TitleChanged) == []
        assert (summary_of(driver).title, summary_of(driver).title_source) == ("fix the build", "prompt")


async def test_a_title_of_the_persons_own_stays_although_one_is_on_its_way(tmp_path: Path) -> None:
    gate = threading.Event()
    late = reply("Too late")
    with ModelServer(answering(lambda: Reply(chunks=late.chunks, gate=gate))) as server:
        async with session(tmp_path, server, titles=True) as driver:
            await driver.ask("one")
            await asyncio.to_thread(server.wait_for_requests, 2, SECONDS)
            driver.send(commands.SetTitle(" My\nown "))
            assert await driver.until(events.TitleChanged) == events.TitleChanged("My", "manual")
            gate.set()
            await driver.ask("two")
            await driver.ask("three")
        assert len(driver.of(events.TitleChanged)) == 1
        assert (summary_of(driver).title, summary_of(driver).title_source) == ("My", "manual")
        assert asked_for_titles(server) == 1


async def test_an_empty_title_goes_back_to_one_that_is_made(tmp_path: Path) -> None:
    with ModelServer(answering(lambda: reply("Made for it"))) as server:
        async with session(tmp_path, server, titles=True) as driver:
            driver.send(commands.SetTitle("Mine"))
            await driver.until(events.TitleChanged)
            await driver.ask("one")
            driver.send(commands.SetTitle(""))
            assert await driver.until(events.TitleChanged) == events.TitleChanged("one", "prompt")
            assert await driver.until(events.TitleChanged) == events.TitleChanged("Made for it", "generated")
        assert summary_of(driver).title == "Made for it"


async def test_a_resumed_session_knows_that_its_title_is_the_persons(tmp_path: Path) -> None:
    with ModelServer(answering(lambda: reply("Another"))) as server:
        async with session(tmp_path, server, titles=True) as driver:
            driver.send(commands.SetTitle("Mine"))
            await driver.ask("one")
        async with session(tmp_path, server, titles=True, continue_last=True) as driver:
            await driver.ask("two")
            await driver.ask("three")
        assert asked_for_titles(server) == 0
        assert summary_of(driver).title == "Mine"


async def test_a_turn_does_not_wait_for_a_title_and_the_end_does_not_either(tmp_path: Path) -> None:
    never = threading.Event()
    stuck = reply("never")
    with ModelServer(answering(lambda: Reply(chunks=stuck.chunks, gate=never))) as server:
        async with session(tmp_path, server, titles=True) as driver:
            await driver.ask("one")
            await asyncio.to_thread(server.wait_for_requests, 2, SECONDS)
            assert (await driver.ask("two")).outcome == "completed"
            driver.send(commands.Shutdown("quit"))
            ended = await driver.until(events.SessionEnded)
        never.set()
        assert ended.undone == ()
        rows = summary_of(driver).usage_rows
        assert rows["title"] == {"fake-model": Usage(calls=1, incomplete=True)}
        assert not rows["main"]["fake-model"].incomplete


async def test_a_turn_that_was_not_completed_asks_for_no_title(tmp_path: Path) -> None:
    with ModelServer(
        answering(lambda: reply("x"), lambda: failure(400, {"error": {"message": "no"}}))
    ) as server:
        async with session(tmp_path, server, titles=True) as driver:
            assert (await driver.ask("one")).outcome == "error"
        assert asked_for_titles(server) == 0


async def test_nobody_asks_where_nobody_watches(tmp_path: Path) -> None:
    with ModelServer(answering(lambda: reply("x"))) as server:
        async with session(tmp_path, server, titles=True, interactive=False) as driver:
            await driver.ask("one")
        assert asked_for_titles(server) == 0


async def test_a_server_on_this_machine_keeps_its_cache(tmp_path: Path) -> None:
    with ModelServer(answering(lambda: reply("x"))) as server:
        async with session(tmp_path, server) as driver:
            await driver.ask("one")
        assert asked_for_titles(server) == 0


@pytest.mark.parametrize(
    ("model", "fit"),
    [
        (ModelSpec("m", "m", "https://api.example.com/v1"), True),
        (ModelSpec("m", "m", "http://127.0.0.1:11434/v1"), False),
        (ModelSpec("m", "m", "http://192.168.1.5:8080/v1"), False),
        (ModelSpec("m", "m", "http://gpu-box.local/v1"), False),
        (ModelSpec("demo", "demo", "", api_backend="demo"), False),
    ],
)
def test_only_models_elsewhere_are_fit_to_be_asked(model: ModelSpec, fit: bool) -> None:
    assert may_be_asked(model) is fit


def test_the_material_is_the_persons_and_the_models_words_shortened() -> None:
    items: list[ConversationItem] = [
        user_text("/etc/environment", reason=SyntheticReason.ENVIRONMENT),
        user_text("first " + "x" * 9_000, prompt_index=0),
        user_text("faster", reason=SyntheticReason.INTERJECTION),
        *(AssistantItem(f"reply {number} " + "y" * 9_000) for number in range(40)),
    ]
    request = title_request(ModelSpec("m", "m", "https://api.example.com"), items)
    text = str(request.items[1])
    assert "/etc/environment" not in text
    assert all(word in text for word in ("first", "faster", "reply 0", "reply 39"))
    assert "reply 20" not in text
    assert len(text) < 9_000
    assert request.tools == ()
    assert request.model.max_attempts == 1
