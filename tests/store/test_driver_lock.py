"""One driver a session, across processes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.protocol.errors import SessionError
from grokmini.store.driver_lock import DriverLock, SessionBusyError, is_driven, read_holder
from grokmini.store.layout import DRIVER_LOCK, HISTORY
from grokmini.store.sessions import SessionStore
from tests.store.ground import CWD, child, line_from, stored_session
from tests.waiting import SECONDS


def test_a_held_lock_names_its_holder(tmp_path: Path) -> None:
    lock = DriverLock.acquire(tmp_path)
    with pytest.raises(SessionBusyError, match=f"process {os.getpid()} on {os.uname().nodename}") as caught:
        DriverLock.acquire(tmp_path)
    assert caught.value.hint
    lock.release()
    DriverLock.acquire(tmp_path).release()


def test_a_free_session_is_not_driven_and_asking_does_not_take_it(tmp_path: Path) -> None:
    assert not is_driven(tmp_path)
    lock = DriverLock.acquire(tmp_path)
    assert is_driven(tmp_path)
    lock.release()
    assert not is_driven(tmp_path)
    DriverLock.acquire(tmp_path).release()


def test_a_lock_let_go_is_free_while_a_child_that_was_just_forked_has_its_descriptor(tmp_path: Path) -> None:
    held, path = DriverLock.acquire(tmp_path), os.path.realpath(tmp_path / DRIVER_LOCK)
    ours = [name for name in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{name}") == path]
    as_a_child_has_it = os.dup(int(ours[0]))
    held.release()
    assert not is_driven(tmp_path)
    DriverLock.acquire(tmp_path).release()
    os.close(as_a_child_has_it)


def test_a_holders_text_reaches_the_terminal_without_control_characters(tmp_path: Path) -> None:
    (tmp_path / DRIVER_LOCK).write_bytes(b"12 ho\x1b[31mst\xff\n")
    assert read_holder(tmp_path) == "process 12 on ho[31mst\ufffd"
    (tmp_path / DRIVER_LOCK).write_bytes(b"\x1b]0;x")
    assert read_holder(tmp_path) == "process unknown"


async def test_a_second_process_is_refused_and_writes_nothing_until_the_first_is_killed(tmp_path: Path) -> None:
    session = await stored_session(tmp_path, 2)
    store = SessionStore(tmp_path)
    before = (session.directory / HISTORY).read_bytes()
    with child("hold", str(tmp_path), session.session_id) as driver:
        assert line_from(driver) == "driving"
        with pytest.raises(SessionError, match=f"process {driver.pid} on"):
            store.open(session.session_id)
        latest = store.latest(CWD)
        assert latest is not None, "the latest is the latest, whoever drives it"
        assert latest.session_id == session.session_id
        assert (session.directory / HISTORY).read_bytes() == before
        driver.kill()
        driver.wait()
        again = store.open(session.session_id)
    assert len(again.items) == 8
    await again.files.close()


async def test_a_take_over_finds_what_the_former_driver_wrote(tmp_path: Path) -> None:
    session = await stored_session(tmp_path, 2)
    with child("hold", str(tmp_path), session.session_id) as driver:
        assert line_from(driver) == "driving"
        assert driver.stdin is not None
        driver.stdin.close()
        driver.wait(SECONDS)
        again = SessionStore(tmp_path).open(session.session_id)
    assert len(again.items) == 8
    await again.files.close()
