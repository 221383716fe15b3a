"""File systems that cannot do everything: sessions are saved all the same, and one process drives each."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from grokmini.store.driver_lock import SessionBusyError, holder
from grokmini.store.layout import DRIVER_LEASE, UPDATES
from grokmini.store.sessions import SessionStore
from grokmini.store.summary import read_summary
from tests.store.ground import child, exchange, line_from


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS], ids=errno.errorcode.get)
def test_without_locks_a_session_is_driven_by_a_lease_and_that_is_said(tmp_path: Path, number: int) -> None:
    with child("lack", str(tmp_path), "flock", str(number)) as driver:
        session_id = line_from(driver)
        assert line_from(driver) == "True lease"
        directory = SessionStore(tmp_path).directory_of(session_id)
        assert (holder(directory) or "").startswith(f"process {driver.pid} on ")
        with pytest.raises(SessionBusyError, match=f"process {driver.pid} on"):
            SessionStore(tmp_path).open(session_id)
        assert driver.stdin is not None
        driver.stdin.close()
        driver.wait()
    assert not (directory / DRIVER_LEASE).exists()
    again = SessionStore(tmp_path).open(session_id)
    assert [stored.item for stored in again.items] == [stored.item for stored in exchange(0)]
    assert (again.notices, again.summary.turns) == ((), 1)


@pytest.mark.parametrize("call", ["fsync", "fdatasync"])
def test_what_cannot_be_synced_is_saved_without_and_nothing_is_said(tmp_path: Path, call: str) -> None:
    with child("lack", str(tmp_path), call, str(errno.EINVAL)) as driver:
        session_id = line_from(driver)
        assert line_from(driver) == "True"
        directory = SessionStore(tmp_path).directory_of(session_id)
        summary = read_summary(directory)
        assert summary is not None
        assert summary.title == "prompt 0"
        assert (directory / UPDATES).read_bytes().count(b"\n") == 4


def test_a_disk_that_fails_to_sync_is_told(tmp_path: Path) -> None:
    with child("lack", str(tmp_path), "fdatasync", str(errno.EIO)) as driver:
        line_from(driver)
        assert line_from(driver) == "False not_saving"
