"""The files of an open session: what is written, when, and by whom."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from pathlib import Path

import msgspec
import pytest

from grokmini.protocol.codec import decode_event
from grokmini.protocol.errors import ExitCode
from grokmini.protocol.events import TextDelta, TurnEnded, TurnStarted
from grokmini.protocol.items import AssistantItem, Stored, SyntheticReason, SystemItem, ToolCall, user_text
from grokmini.protocol.model import Usage
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES
from grokmini.store.session_disk import SessionDisk
from grokmini.store.session_files import SessionFiles
from grokmini.store.session_writer import EVENT_SECONDS, Flush, SessionWriter
from grokmini.store.sessions import SessionStore, memory_session
from grokmini.store.summary import Summary
from tests.cost import LINEAR, growth
from tests.store.ground import CWD, delta, exchange, new, prompt, record
from tests.waiting import SECONDS, until

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
    assert EVENT_SECONDS == 0.5
    directory = tmp_path / "s"
    disk = SessionDisk(tmp_path, directory, Summary(session_id="s", cwd=str(CWD)), new=True)
    writer = SessionWriter(disk, lambda trouble: None, touch_seconds=0.01, event_seconds=3_600)
    written = threading.Event()
    writer.put(prompt(0))
    writer.put(Flush(lambda done: written.set()))
    assert await asyncio.to_thread(written.wait, SECONDS)
    for number, text in ((1, "b"), (2, "c")):
        writer.put_event(delta(number, text))
        for _ in range(2):  # it looks at what is due whenever it has shown that it is alive
            os.utime(directory, (0, 0))
            await until(lambda: directory.stat().st_mtime > 0)
    assert lines(directory / UPDATES) == []
    writer.put(Flush(lambda done: None, last=True))
    await asyncio.to_thread(writer.join)
    assert [decode_event(line).event for line in lines(directory / UPDATES)] == [TextDelta("bc")]


async def test_events_are_written_when_their_time_has_come_with_nothing_else_to_write(tmp_path: Path) -> None:
    files, updates = gathering(tmp_path, 0.01)
    files.record(delta(1, "a"))
    await until(lambda: len(lines(updates)) == 1)
    files.record(delta(2, "b"))
    await until(lambda: len(lines(updates)) == 2)
    assert [decode_event(line).event for line in lines(updates)] == [TextDelta("a"), TextDelta("b")]
    await files.close()


async def test_the_end_of_a_turn_is_written_at_once(tmp_path: Path) -> None:
    files, updates = gathering(tmp_path, 3_600)
    files.record(delta(1, "a"))
    files.record(record(2, ENDED))
    await until(lambda: len(lines(updates)) == 2)
    assert [decode_event(line).event for line in lines(updates)] == [TextDelta("a"), ENDED]
    await files.close()


def gathering(root: Path, event_seconds: float) -> tuple[SessionFiles, Path]:
    """A new session whose events gather for so long, and where they are written."""
    summary = Summary(session_id="01890000-0000-7000-8000-000000000000", cwd=str(CWD))
    disk = SessionDisk(root, root / "s", summary, new=True)
    disk.acquire()
    (root / "s" / UPDATES).touch()
    return SessionFiles(disk, summary, event_seconds=event_seconds), root / "s" / UPDATES


async def test_twenty_thousand_pieces_cost_the_loop_next_to_nothing_and_few_lines(tmp_path: Path) -> None:
    session = new(tmp_path)
    session.files.append(prompt(0))
    seq = 0

    def tell(count: int) -> None:
        nonlocal seq
        for _ in range(count):
            seq += 1
            session.files.record(delta(seq, "word "))

    assert growth(tell, 20_000) < LINEAR
    await session.files.close()
    events = [decode_event(line) for line in lines(session.directory / UPDATES)]
    assert len(events) < seq / 200
    assert "".join(e.event.text for e in events if isinstance(e.event, TextDelta)) == "word " * seq
    assert events[-1].seq == seq


async def test_a_prompt_is_acknowledged_by_one_write_to_the_disk_itself_and_the_loop_runs_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = new(tmp_path)
    ran, waited = threading.Event(), list[bool]()
    sync = os.fdatasync

    def held(descriptor: int) -> None:
        waited.append(ran.wait(SECONDS))
        sync(descriptor)

    monkeypatch.setattr(os, "fdatasync", held)
    for number in range(15):
        ran.clear()
        session.files.prompt_started(f"prompt {number}", number)
        session.files.append(prompt(number))
        acknowledged = asyncio.ensure_future(session.files.flush(durable=True))
        await asyncio.sleep(0)
        assert not acknowledged.done()
        ran.set()
        assert await acknowledged
    assert waited == [True] * 15
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
    others = threading.enumerate()
    session = new(tmp_path)
    for stored in exchange(0):
        session.files.append(stored)
    session.files.record(delta(1, "a"))
    await session.files.close()
    await session.files.close()
    assert len(lines(session.directory / HISTORY)) == 4
    assert len(lines(session.directory / UPDATES)) == 1
    mine = [thread for thread in threading.enumerate() if thread not in others]
    assert not [thread for thread in mine if thread.name == "session-writer"]
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
