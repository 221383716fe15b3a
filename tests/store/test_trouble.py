"""When the disk refuses: on in memory, one notice, and everything once it works again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from grokmini.protocol.events import Notice
from grokmini.protocol.items import Stored, TextPart, UserItem
from grokmini.store.driver_lock import SessionBusyError, is_driven
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES
from grokmini.store.session_disk import SessionDisk
from grokmini.store.session_files import SessionFiles
from grokmini.store.sessions import SessionStore
from grokmini.store.summary import Summary
from tests.store.ground import CWD, child, delta, exchange, line_from, new, prompt, tell
from tests.waiting import until


def test_out_of_disk_the_session_goes_on_and_writes_everything_once_there_is_room(tmp_path: Path) -> None:
    with child("starve", str(tmp_path), "4000") as process:
        session_id = line_from(process)
        first_failure, failures, last = line_from(process).split()
        assert int(first_failure) > 3
        assert int(failures) == 40 - int(first_failure)
        assert last == "True"
        assert line_from(process) == "not_saving saving_again"
        process.wait()
    again = SessionStore(tmp_path).open(session_id)
    assert again.notices == ()
    assert [stored.item for stored in again.items] == [s.item for n in range(40) for s in exchange(n)]
    events = (again.directory / UPDATES).read_bytes()
    assert [events.count(f'"piece {number}"'.encode()) for number in range(40)] == [1] * 40
    assert again.summary.session_id == session_id
    assert not list(again.directory.glob(".*.tmp"))


async def test_a_state_directory_that_cannot_be_made_is_tried_again(tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_bytes(b"a file where the directory should be")
    session = new(blocked)
    assert [notice.code for notice in session.notices] == ["not_saving"]
    assert "Not a directory" in session.notices[0].text
    notices: list[Notice] = []
    session.files.on_trouble = notices.append
    for stored in exchange(0):
        session.files.append(stored)
    session.files.prompt_started("prompt 0", 0)
    session.files.record(delta(1, "a"))
    assert not await session.files.flush(durable=True)
    assert session.files.write("1-1.txt", b"x") is None
    assert notices == []
    blocked.unlink()
    assert await session.files.flush(durable=True)
    await until(lambda: [notice.code for notice in notices] == ["saving_again"])
    await session.files.close()
    again = SessionStore(blocked).open(session.session_id)
    assert (len(again.items), again.last_seq, again.summary.title) == (4, 1, "prompt 0")
    await again.files.close()


async def test_saving_is_tried_again_without_anybody_asking(tmp_path: Path) -> None:
    blocked = tmp_path / "state"
    blocked.write_bytes(b"")
    summary = Summary(session_id="01890000-0000-7000-8000-000000000000", cwd=str(CWD))
    disk = SessionDisk(blocked, blocked / "sessions" / "x" / summary.session_id, summary, new=True)
    files = SessionFiles(disk, summary, retry_seconds=0.02)
    notices: list[Notice] = []
    files.on_trouble = notices.append
    files.append(prompt(0))
    await until(lambda: [notice.code for notice in notices] == ["not_saving"])
    blocked.unlink()
    await until(lambda: [notice.code for notice in notices] == ["not_saving", "saving_again"])
    assert (disk.directory / HISTORY).read_bytes().count(b"\n") == 1
    await files.close()


async def test_a_deleted_session_is_told_once_and_written_whole_again(tmp_path: Path) -> None:
    session = new(tmp_path)
    notices: list[Notice] = []
    session.files.on_trouble = notices.append
    session.files.prompt_started("prompt 0", 0)
    for number in range(3):
        for stored in exchange(number):
            session.files.append(stored)
        session.files.record(delta(number + 1, f"piece {number}"))
    assert await session.files.flush(durable=True)
    assert await session.files.flush(), "what comes behind the answer is written too"
    shutil.rmtree(session.directory)
    session.files.append(prompt(3))
    await until(lambda: bool(notices))
    assert await session.files.flush(durable=True)
    await until(lambda: [notice.code for notice in notices] == ["not_saving", "saving_again"])
    assert "The record of earlier events is gone" in notices[-1].text
    assert (session.directory / HISTORY).read_bytes().count(b"\n") == 13
    assert (session.directory / SUMMARY).exists()
    await session.files.close()
    again = SessionStore(tmp_path).open(session.session_id)
    assert (len(again.items), again.summary.title) == (13, "prompt 0")
    await again.files.close()


MOVES: dict[str, Callable[[Path], object]] = {
    "the session": lambda directory: directory.rename(directory.with_name("elsewhere")),
    "the folder it is filed in": lambda directory: directory.parent.rename(directory.parent.with_name("x")),
    "its history": lambda directory: (directory / HISTORY).rename(directory / "elsewhere"),
    "all, with a copy in its place": lambda directory: shutil.copytree(
        directory.rename(directory.with_name("elsewhere")), directory
    ),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
async def test_a_session_that_was_moved_away_is_written_whole_where_it_is_looked_for(
    tmp_path: Path, move: Callable[[Path], object]
) -> None:
    session = new(tmp_path)
    notices: list[Notice] = []
    session.files.on_trouble = notices.append
    tell(session, 0)
    assert await session.files.flush(durable=True)
    move(session.directory)
    tell(session, 1)
    await until(lambda: [notice.code for notice in notices] == ["not_saving"])
    assert "moved or deleted" in notices[0].text
    assert await session.files.flush(durable=True)
    with pytest.raises(SessionBusyError):
        SessionStore(tmp_path).open(session.session_id)
    await session.files.close()
    assert [notice.code for notice in notices] == ["not_saving", "saving_again"]
    again = SessionStore(tmp_path).open(session.session_id)
    assert [stored.item for stored in again.items] == [s.item for n in range(2) for s in exchange(n)]
    await again.files.close()


async def test_a_writer_that_fails_inside_keeps_nobody_waiting_and_says_so(tmp_path: Path) -> None:
    session = new(tmp_path)
    notices: list[Notice] = []
    session.files.on_trouble = notices.append
    impossible = cast("tuple[TextPart, ...]", (object(),))
    session.files.append(Stored(UserItem(impossible)))
    assert not await session.files.flush(durable=True)
    await until(lambda: [notice.code for notice in notices] == ["not_saving"])
    assert "any more: the writer failed" in notices[0].text
    assert "again" not in notices[0].text, "nothing is promised that will not happen"
    session.files.append(prompt(0))
    assert not await session.files.flush()
    await session.files.close()
    assert not is_driven(session.directory)
