"""A record of events that cannot be used: the conversation is whole, so the session opens, goes on and says so once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from grokmini.protocol.events import Notice
from grokmini.store.fork import fork_session
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES
from grokmini.store.repair import repair_session
from grokmini.store.sessions import OpenSession, SessionStore
from grokmini.store.set_aside import UNUSABLE
from grokmini.store.updates import read_updates
from tests.permissions import held_to_permissions
from tests.store.ground import delta, exchange, stored_session
from tests.waiting import until

ASIDE = UPDATES + UNUSABLE


async def one_more_turn(session: OpenSession, notices: list[Notice]) -> None:
    """One more turn of a session that was opened again; the writer has nothing left to do then."""
    session.files.on_trouble = notices.append
    for stored in exchange(2):
        session.files.append(stored)
    session.files.record(delta(session.last_seq + 1, "after it all"))
    assert await session.files.flush(durable=True)
    assert await session.files.flush(), "what comes behind the answer is written too"


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").write_text("mine")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize("spoil", [a_folder, a_pipe, a_loop])
async def test_what_is_no_file_is_moved_aside_and_a_new_record_begins(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    before = await stored_session(tmp_path, 2)
    spoil(before.directory / UPDATES)
    again = SessionStore(tmp_path).open(before.session_id)
    assert [notice.code for notice in again.notices] == ["log_unreadable"]
    assert f"moved to {before.directory / ASIDE}" in again.notices[0].text
    assert len(again.items) == 8
    notices: list[Notice] = []
    await one_more_turn(again, notices)
    await again.files.close()
    assert notices == [], "one notice is enough"
    assert os.path.lexists(before.directory / ASIDE)
    assert spoil is not a_folder or (before.directory / ASIDE / "something").read_text() == "mine"
    third = SessionStore(tmp_path).open(before.session_id)
    assert (len(third.items), third.notices) == (12, ())
    assert [record.seq for record in read_updates(before.directory)] == [again.last_seq + 1]
    await third.files.close()


async def test_a_second_one_does_not_take_the_place_of_the_first(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 1)
    for name in (ASIDE, f"{ASIDE}-2"):
        path = before.directory / UPDATES
        a_folder(path) if path.exists() else path.mkdir()
        again = SessionStore(tmp_path).open(before.session_id)
        await one_more_turn(again, [])
        await again.files.close()
        assert (before.directory / name).is_dir()


async def test_one_that_may_not_be_read_is_kept_whole_and_no_number_is_given_twice(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 2)
    control = SessionStore(tmp_path).open(before.session_id)
    await control.files.close()
    log = before.directory / UPDATES
    content = log.read_bytes()
    log.chmod(0)
    with held_to_permissions():
        again = SessionStore(tmp_path).open(before.session_id)
        assert [notice.code for notice in again.notices] == ["log_unreadable"]
        assert "Permission denied" in again.notices[0].text
        notices: list[Notice] = []
        await one_more_turn(again, notices)
        await again.files.close()
        assert notices == []
        kept = before.directory / ASIDE
        kept.chmod(0o600)
        assert kept.read_bytes() == content
        assert [record.seq > control.last_seq for record in read_updates(before.directory)] == [True]


async def test_where_nothing_can_be_moved_the_conversation_is_saved_and_events_wait(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 2)
    control = SessionStore(tmp_path).open(before.session_id)
    await one_more_turn(control, [])
    await control.files.close()
    log = before.directory / UPDATES
    log.chmod(0)
    with held_to_permissions():
        before.directory.chmod(0o500)
        again = SessionStore(tmp_path).open(before.session_id)
        assert again.notices == ()
        notices: list[Notice] = []
        await one_more_turn(again, notices)
        await until(lambda: bool(notices))
        assert [notice.code for notice in notices] == ["not_recording"]
        assert (before.directory / HISTORY).read_bytes().count(b"\n") == 16, "it is saved all the same"
        log.chmod(0o600)
        before.directory.chmod(0o700)
        again.files.append(exchange(3)[0])
        assert await again.files.flush(durable=True)
        await until(lambda: len(notices) == 2)
        assert [notice.code for notice in notices] == ["not_recording", "saving_again"]
        await again.files.close()
        assert b"after it all" in log.read_bytes().splitlines()[-1], "what had waited is there"


async def test_one_that_becomes_a_folder_while_the_session_runs_is_told_with_the_recovery(
    tmp_path: Path,
) -> None:
    session = await stored_session(tmp_path, 1)
    again = SessionStore(tmp_path).open(session.session_id)
    notices: list[Notice] = []
    await one_more_turn(again, notices)
    a_folder(session.directory / UPDATES)
    again.files.append(exchange(3)[0])
    await until(lambda: bool(notices))
    assert await again.files.flush(durable=True)
    await until(lambda: len(notices) == 2)
    assert [notice.code for notice in notices] == ["not_saving", "saving_again"]
    assert "search begin here" in notices[1].text
    again.files.record(delta(again.last_seq + 2, "recorded"))
    await again.files.close()
    assert [record.seq for record in read_updates(session.directory)] == [again.last_seq + 2]


async def test_repair_and_fork_go_by_the_history(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 2)
    a_folder(before.directory / UPDATES)
    (before.directory / SUMMARY).unlink()
    assert repair_session(before.directory).summary_rebuilt
    made = fork_session(SessionStore(tmp_path), before.session_id)
    assert (made.directory / HISTORY).read_bytes() == (before.directory / HISTORY).read_bytes()
    cut = fork_session(SessionStore(tmp_path), before.session_id, before_prompt=1)
    assert (cut.directory / HISTORY).read_bytes().count(b"\n") == 4
    assert (before.directory / UPDATES / "something").exists(), "the source stays as it is"
