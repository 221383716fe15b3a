"""Whatever a person does in whatever order, a session ends idle, with a valid history and nothing left running."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from grokmini.protocol import commands, events
from grokmini.protocol.ids import short_id
from grokmini.protocol.items import AssistantItem, ConversationItem, ToolResultItem
from grokmini.protocol.permission import PermissionAnswer, PermissionMode
from tests.fakes.model_server import Call, ModelServer, Recorded, Reply, call, reply
from tests.session.sessions import Driver, session
from tests.waiting import SECONDS

FULL, SMALL = 1_000, 20


class Model:
    """Answers with calls or text, by the seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def __call__(self, request: Recorded) -> Reply:
        choice = self._random.random()
        if choice < 0.45:
            calls = [self._call() for _ in range(self._random.randint(1, 3))]
            return reply("working", calls=calls, piece=3)
        return reply("word " * self._random.randint(1, 40), piece=4)

    def _call(self) -> Call:
        made = self._random.choice(("run", "ask", "read", "unknown", "broken"))
        if made == "run":
            return call(
                "run_terminal_command", command=f"sleep 0.0{self._random.randint(0, 5)}; pwd", description="d"
            )
        if made == "ask":
            return call("run_terminal_command", command="touch made", description="d")
        if made == "read":
            return call("read_file", target_file="a.txt")
        return call("nothing_like_it") if made == "unknown" else Call("x", "read_file", '{"target_file": ')


async def act(driver: Driver, chance: random.Random) -> None:
    """One thing a person may do, then up to a few events' time."""
    waiting = [event.prompt_id for event in driver.of(events.PromptQueued)]
    asked = driver.of(events.PermissionAsked)
    wishes: list[commands.SessionCommand] = [
        commands.Prompt(short_id(), "do it"),
        commands.Prompt(short_id(), "and this"),
        commands.CancelTurn(),
        commands.Interject(),
        commands.Interject(chance.choice(waiting) if waiting else "none"),
        commands.EditQueue("remove", chance.choice(waiting) if waiting else "none"),
        commands.EditQueue("clear"),
        commands.SetMode(chance.choice(list(PermissionMode))),
        commands.RunShell("pwd"),
    ]
    if asked:
        answer = PermissionAnswer(chance.choice(("allow", "deny")), text=chance.choice(("", "not so")))
        wishes += [commands.AnswerPermission(asked[-1].request_id, answer)] * 3
    driver.send(chance.choice(wishes))
    for _ in range(chance.randint(0, 6)):
        await asyncio.sleep(0)
        while (record := driver.wired.events.take_nowait()) is not None:
            driver.seen.append(record.event)


def assert_valid(items: list[ConversationItem]) -> None:
    """Every call is followed at once by its results, in order, and no result stands alone."""
    expected: list[str] = []
    for item in items:
        if isinstance(item, ToolResultItem):
            assert expected and item.call_id == expected.pop(0)
        else:
            assert not expected, f"calls without a result before {item}"
            if isinstance(item, AssistantItem):
                expected = [made.id for made in item.tool_calls]
    assert not expected


def seeds(full: bool) -> range:
    return range(FULL if full else SMALL)


async def test_any_interleaving_ends_idle_with_a_valid_history_and_no_task_left(
    tmp_path: Path, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STEP_SECONDS", "CLOSE_SECONDS"):  # a machine that stands still leaves nothing undone
        monkeypatch.setattr(f"grokmini.session.engine.{name}", SECONDS)
    for seed in seeds(full):
        folder = tmp_path / str(seed)
        folder.mkdir()
        (folder / "a.txt").write_text("text\n")
        chance = random.Random(seed)
        before = asyncio.all_tasks()
        with ModelServer(Model(seed), strict=True) as server:
            async with session(folder, server) as driver:
                for _ in range(chance.randint(1, 25)):
                    await act(driver, chance)
        async for record in driver.wired.events:
            driver.seen.append(record.event)
        _check_one(driver, seed)
        assert asyncio.all_tasks() == before, f"seed {seed}: tasks are left"
        refused = [
            event for event in driver.of(events.TurnEnded) if event.error and event.error.kind == "bad_request"
        ]
        assert not refused, f"seed {seed}: the strict server refused a request: {refused}"


def _check_one(driver: Driver, seed: int) -> None:
    if (driver.wired.directory / "chat_history.jsonl").exists():
        assert_valid(driver.history())
    started = [event.prompt_index for event in driver.of(events.TurnStarted)]
    ended = [event.prompt_index for event in driver.of(events.TurnEnded)]
    assert started == ended == list(range(len(started))), f"seed {seed}: {started} {ended}"
    asked = [event.request_id for event in driver.of(events.PermissionAsked)]
    answered = [event.request_id for event in driver.of(events.PermissionAnswered)]
    assert asked == answered, f"seed {seed}"
    ready = sorted(event.call_id for event in driver.of(events.ToolCallReady))
    finished = sorted(event.call_id for event in driver.of(events.ToolFinished))
    assert ready == finished, f"seed {seed}"
    assert isinstance(driver.seen[-1], events.SessionEnded)
    assert not driver.seen[-1].undone, f"seed {seed}: {driver.seen[-1].undone}"


async def test_a_thousand_waiting_prompts_all_run_in_order(tmp_path: Path, full: bool) -> None:
    count = 1_000 if full else 60
    with ModelServer([reply("ok")], repeat=True) as server:
        async with session(tmp_path, server) as driver:
            for number in range(count):
                driver.prompt(str(number))
            texts = [(await driver.until(events.TurnStarted)).text for _ in range(count)]
            await driver.until(events.TurnEnded)
    assert texts == [str(number) for number in range(count)]
