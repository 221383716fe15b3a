"""On a network file system a session is driven by a lease, since other hosts do not see our locks."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.store.driver_lock import DriverLock, SessionBusyError, holder
from grokmini.store.layout import DRIVER_LEASE, DRIVER_LOCK, HISTORY
from grokmini.store.lease import STALE_SECONDS, Lease, LeaseHeldError, live_holder
from grokmini.store.session_disk import SessionDisk
from grokmini.store.summary import Summary
from tests.store.ground import CWD, exchange


def test_a_lease_is_one_process_s_until_it_is_released(tmp_path: Path) -> None:
    first = Lease.acquire(tmp_path)
    with pytest.raises(LeaseHeldError, match=f"process {os.getpid()} on "):
        Lease.acquire(tmp_path)
    first.release()
    assert live_holder(tmp_path) is None
    Lease.acquire(tmp_path).release()


def age(directory: Path, seconds: float) -> None:
    """Make the lease so old."""
    path = directory / DRIVER_LEASE
    then = path.stat().st_mtime - seconds
    os.utime(path, (then, then))


def test_a_lease_that_nobody_renews_goes_stale_and_its_former_driver_learns_of_it(tmp_path: Path) -> None:
    first = Lease.acquire(tmp_path)
    age(tmp_path, STALE_SECONDS / 3)
    with pytest.raises(LeaseHeldError):
        Lease.acquire(tmp_path)
    first.refresh()
    age(tmp_path, STALE_SECONDS + 10)
    second = Lease.acquire(tmp_path)
    assert not first.is_ours()
    with pytest.raises(LeaseHeldError):
        first.refresh()
    first.release()
    assert second.is_ours(), "who was taken over removes nothing of the other's"


def test_the_lease_says_who_drives_where_the_lock_is_not_seen(tmp_path: Path) -> None:
    lock = DriverLock.acquire(tmp_path, remote=True)
    assert lock.by_lease
    (tmp_path / DRIVER_LOCK).unlink()  # as another host sees it: no lock
    assert holder(tmp_path) == f"process {os.getpid()} on {os.uname().nodename}"
    with pytest.raises(SessionBusyError):
        DriverLock.acquire(tmp_path, remote=True)
    lock.release()
    assert holder(tmp_path) is None


def test_on_a_local_disk_there_is_no_lease(tmp_path: Path) -> None:
    lock = DriverLock.acquire(tmp_path, remote=False)
    assert not lock.by_lease
    assert not (tmp_path / DRIVER_LEASE).exists()
    lock.release()


def test_a_driver_that_was_taken_over_never_writes_again(tmp_path: Path) -> None:
    summary = Summary(session_id="s", cwd=str(CWD))
    directory = tmp_path / "sessions" / "group" / "s"
    disk = SessionDisk(tmp_path, directory, summary, new=True, remote=True)
    for stored in exchange(0):
        disk.add_item(stored)
    disk.write()
    before = (directory / HISTORY).read_bytes()
    age(directory, STALE_SECONDS + 10)
    other = Lease.acquire(directory)
    disk.add_item(exchange(1)[0])
    for _ in range(2):
        with pytest.raises(SessionBusyError):
            disk.write()
        disk.failed()
    assert (directory / HISTORY).read_bytes() == before
    assert other.is_ours()
    disk.close()
    assert other.is_ours()
