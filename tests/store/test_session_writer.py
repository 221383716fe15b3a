"""The writer thread: woken for work that cannot wait, and by itself while there is none."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from grokmini.store.layout import DRIVER_LEASE, HISTORY
from grokmini.store.session_disk import SessionDisk
from grokmini.store.session_writer import TOUCH_SECONDS, Flush, SessionWriter, Trouble
from grokmini.store.summary import Summary
from tests.store.ground import CWD, delta, prompt
from tests.waiting import SECONDS, until


class Interrupted(SessionWriter):
    """A writer that is interrupted right after it looked whether anything is urgent, and once only."""

    meanwhile: threading.Event | None = None
    went_on = threading.Event()
    mark = False

    @property
    def _urgent(self) -> bool:
        seen = self.mark
        if not seen and self.meanwhile is not None:
            self.meanwhile.set()
            self.meanwhile = None
            assert self.went_on.wait(SECONDS)
        return seen

    @_urgent.setter
    def _urgent(self, value: bool) -> None:
        self.mark = value


def test_work_handed_in_while_the_writer_looks_is_not_forgotten(tmp_path: Path) -> None:
    session_id = "01930c5e-0000-7000-8000-000000000000"
    disk = SessionDisk(tmp_path, tmp_path / "s", Summary(session_id=session_id, cwd=str(CWD)), new=True)
    disk.acquire()
    troubles: list[Trouble] = []
    writer = Interrupted(disk, troubles.append, event_seconds=3_600)
    looked = writer.meanwhile = threading.Event()
    writer.put_event(delta(1, "wakes the writer, but can wait"))
    assert looked.wait(SECONDS)
    answered = threading.Event()
    writer.put(prompt(0))
    writer.put(Flush(lambda written: answered.set()))
    writer.went_on.set()
    assert answered.wait(SECONDS), "long before the event itself is due"
    assert (tmp_path / "s" / HISTORY).read_bytes().count(b"\n") == 1
    end(writer)
    assert troubles == []


async def test_an_idle_session_shows_each_hour_that_somebody_drives_it(tmp_path: Path) -> None:
    """The hour is short here. The directory is made old, and the writer makes it young again."""
    assert TOUCH_SECONDS == 3_600
    session_id = "01930c5e-0000-7000-8000-000000000000"
    directory = tmp_path / "s"
    disk = SessionDisk(tmp_path, directory, Summary(session_id=session_id, cwd=str(CWD)), new=True)
    disk.acquire()
    writer = SessionWriter(disk, lambda trouble: None, touch_seconds=0.01)
    writer.put(prompt(0))
    written = threading.Event()
    writer.put(Flush(lambda _: written.set()))
    assert written.wait(SECONDS)
    for _ in range(2):
        os.utime(directory, (0, 0))
        await until(lambda: directory.stat().st_mtime > 0)
    end(writer)


async def test_a_lease_that_was_had_only_later_is_renewed_while_nothing_is_written(tmp_path: Path) -> None:
    """The disk refuses at first; what is written when it works again is the last work there is."""
    blocked = tmp_path / "state"
    blocked.write_bytes(b"a file where the directory should be")
    directory = blocked / "sessions" / "group" / "s"
    disk = SessionDisk(blocked, directory, Summary(session_id="s", cwd=str(CWD)), new=True, remote=True)
    told: list[bool] = []
    writer = SessionWriter(
        disk, lambda trouble: told.append(trouble.error is None), retry_seconds=0.01, stay_seconds=0.05
    )
    writer.put(prompt(0))
    await until(lambda: told == [False])
    blocked.unlink()
    await until(lambda: told == [False, True])
    lease = directory / DRIVER_LEASE
    for _ in range(2):
        os.utime(lease, (0, 0))
        await until(lambda: lease.stat().st_mtime > 0)
    end(writer)
    assert not lease.exists()


def end(writer: SessionWriter) -> None:
    """Have everything written and the thread ended."""
    ended = threading.Event()
    writer.put(Flush(lambda written: ended.set(), last=True))
    assert ended.wait(SECONDS)
    writer.join()
