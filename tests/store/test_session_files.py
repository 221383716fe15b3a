"""The files of an open session: what is written, when, and by whom."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import threading
import time
from pathlib import Path

import msgspec
import pytest

from grokmini.protocol.codec import decode_event
from grokmini.protocol.errors import ExitCode
from grokmini.protocol.events import TextDelta, TurnEnded, TurnStarted
from grokmini.protocol.items import AssistantItem, Stored, SyntheticReason, SystemItem, ToolCall, user_text
from grokmini.protocol.model import Usage
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES
from grokmini.store.sessions import SessionStore, memory_session
from tests.store.ground import CWD, delta, exchange, new, prompt, record, until

ENDED = TurnEnded(0, "completed", ExitCode.OK, "done", Usage())


def lines(path: Path) -> list[bytes]:
    """Whole lines of a file."""
    return path.read_bytes().split(b"\n")[:-1]


async def test_a_durable_flush_writes_prompt_event_and_a_summary_to_find_it_by(tmp_path: Path) -> None:
    session = new(tmp_path)
    session.files.prompt_started("prompt 0", 0)
    session.files.record(record(1, TurnStarted("p", 0, "prompt 0")))
    session.files.append(prompt(0))
    assert await session.files.flush(durable=True)
    assert json.loads(lines(session.directory / HISTORY)[0])["prompt_index"] == 0
    assert json.loads(lines(session.directory / UPDATES)[0])["type"] == "turn_started"
    assert json.loads((session.directory / SUMMARY).read_bytes())["title"] == "prompt 0"
    await session.files.close()


async def test_a_prompt_is_on_the_disk_itself_when_it_is_acknowledged_and_nothing_else_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No kill of a process shows this, only one of the machine: so the call is watched."""
    synced: list[str] = []
    sync = os.fdatasync

    def watched(descriptor: int) -> None:
        sync(descriptor)
        synced.append(os.pread(descriptor, 1 << 20, 0).decode())

    monkeypatch.setattr(os, "fdatasync", watched)
    session = new(tmp_path)
    session.files.append(prompt(0))
    assert await session.files.flush(durable=True)
    assert any('"text":"prompt 0"' in data for data in synced)
    synced.clear()
    for stored in exchange(0)[1:]:
        session.files.append(stored)
    assert await session.files.flush()
    assert synced == []
    session.files.append(prompt(1))
    assert await session.files.flush(durable=True)
    assert any('"text":"prompt 1"' in data for data in synced)
    await session.files.close()


async def test_events_gather_and_are_written_within_half_a_second(tmp_path: Path) -> None:
    session = new(tmp_path)
    updates = session.directory / UPDATES
    session.files.record(delta(1, "a"))
    await until(lambda: updates.exists() and updates.stat().st_size > 0)
    session.files.record(delta(2, "b"))
    session.files.record(delta(3, "c"))
    assert len(lines(updates)) == 1
    started = time.monotonic()
    await until(lambda: len(lines(updates)) == 2)
    assert time.monotonic() - started < 5
    assert decode_event(lines(updates)[1]).event == TextDelta("bc")
    await session.files.close()


async def test_the_end_of_a_turn_is_written_at_once(tmp_path: Path) -> None:
    session = new(tmp_path)
    session.files.record(delta(1, "a"))
    session.files.record(record(2, ENDED))
    started = time.monotonic()
    updates = session.directory / UPDATES
    await until(lambda: updates.exists() and len(lines(updates)) == 2)
    assert time.monotonic() - started < 0.4
    await session.files.close()


async def test_twenty_thousand_pieces_cost_the_loop_next_to_nothing_and_few_lines(tmp_path: Path) -> None:
    session = new(tmp_path)
    session.files.append(prompt(0))
    records = [delta(number, "word ") for number in range(1, 20_001)]
    started = time.thread_time()
    for entry in records:
        session.files.record(entry)
    assert time.thread_time() - started < 0.5
    await session.files.close()
    events = [decode_event(line) for line in lines(session.directory / UPDATES)]
    assert len(events) < 100
    assert "".join(e.event.text for e in events if isinstance(e.event, TextDelta)) == "word " * 20_000
    assert events[-1].seq == 20_000


async def test_a_prompt_is_acknowledged_fast_and_the_loop_runs_meanwhile(tmp_path: Path) -> None:
    session = new(tmp_path)
    seconds = []
    for number in range(15):
        session.files.prompt_started(f"prompt {number}", number)
        started = time.perf_counter()
        session.files.append(prompt(number))
        acknowledged = asyncio.ensure_future(session.files.flush(durable=True))
        await asyncio.sleep(0)
        assert not acknowledged.done()
        assert await acknowledged
        seconds.append(time.perf_counter() - started)
    assert statistics.median(seconds) < 0.25
    await session.files.close()


async def test_work_is_written_in_the_order_it_came(tmp_path: Path) -> None:
    session = new(tmp_path)
    for number in range(5):
        session.files.append(prompt(number))
    session.files.replace([prompt(10), prompt(11)])
    session.files.append(prompt(12))
    assert await session.files.flush()
    indexes = [json.loads(line)["prompt_index"] for line in lines(session.directory / HISTORY)]
    assert indexes == [10, 11, 12]
    await session.files.close()


async def test_events_after_a_rewrite_reach_the_file(tmp_path: Path) -> None:
    session = new(tmp_path)
    for number in range(1, 6):
        session.files.replace([prompt(number)])
        session.files.record(delta(number, "x", trace=str(number)))
        assert await session.files.flush(durable=True)
    assert len(lines(session.directory / UPDATES)) == 5
    await session.files.close()


async def test_closing_writes_everything_frees_the_lock_and_can_be_repeated(tmp_path: Path) -> None:
    session = new(tmp_path)
    for stored in exchange(0):
        session.files.append(stored)
    session.files.record(delta(1, "a"))
    await session.files.close()
    await session.files.close()
    assert len(lines(session.directory / HISTORY)) == 4
    assert len(lines(session.directory / UPDATES)) == 1
    assert not [thread for thread in threading.enumerate() if thread.name == "session-writer"]
    session.files.append(prompt(1))
    assert not await session.files.flush()
    again = SessionStore(tmp_path).open(session.session_id)
    assert len(again.items) == 4
    await again.files.close()


@pytest.mark.parametrize(
    ("item", "kept"),
    [
        (SystemItem("s"), False),
        (user_text("env", reason=SyntheticReason.ENVIRONMENT), False),
        (user_text("!ls", reason=SyntheticReason.SHELL_ESCAPE), True),
        (user_text("hello", prompt_index=0), True),
    ],
)
async def test_only_what_a_person_did_makes_a_session_worth_keeping(
    tmp_path: Path, item: SystemItem, kept: bool
) -> None:
    session = new(tmp_path)
    session.files.append(Stored(item))
    session.files.turn_ended(model="demo", tokens=1, messages=1)
    await session.files.close()
    assert (session.directory / SUMMARY).exists() is kept
    assert session.directory.exists() is kept


async def test_lone_surrogates_never_reach_a_file(tmp_path: Path) -> None:
    session = new(tmp_path)
    session.files.append(Stored(user_text("x\ud99cy", prompt_index=0)))
    call = ToolCall("1", "grep", '{"q":"\ud99c"}', msgspec.Raw(b'{"signature":1}'))
    session.files.append(Stored(AssistantItem("", (call,))))
    session.files.record(delta(1, "a\ud83d"))
    session.files.record(delta(2, "\ude00 b\udc00"))
    assert await session.files.flush()
    asked, replied = map(json.loads, lines(session.directory / HISTORY))
    assert asked["content"][0]["text"] == "x\ufffdy"
    assert replied["tool_calls"][0] == {
        "id": "1",
        "name": "grep",
        "arguments": '{"q":"\ufffd"}',
        "extra": {"signature": 1},
    }
    assert json.loads((session.directory / UPDATES).read_bytes())["text"] == "a😀 b\ufffd"
    await session.files.close()


async def test_without_a_home_a_session_lives_in_memory_and_says_so(tmp_path: Path) -> None:
    session = memory_session(cwd=CWD, model="demo")
    assert [notice.code for notice in session.notices] == ["not_saving"]
    session.files.append(prompt(0))
    session.files.record(delta(1, "a"))
    session.files.prompt_started("prompt 0", 0)
    assert not await session.files.flush(durable=True)
    assert session.files.write("1-1.txt", b"x") is None
    assert not session.directory.exists()
    await session.files.close()
    assert list(tmp_path.iterdir()) == []
