"""A file system of two megabytes, filled and emptied, made read-only and writable again.

Run as `python -m tests.store.small_disk MOUNTPOINT`, also by a person who is not root: `unshare -Urm` gives it mounts
of its own.
"""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grokmini.protocol.events import Notice
from grokmini.protocol.items import Stored, user_text
from grokmini.store.layout import HISTORY
from grokmini.store.sessions import SessionStore
from grokmini.store.summary import read_summary
from tests.store.accepted import go_on, refusal_of
from tests.store.ground import delta, exchange, new, stored_session
from tests.waiting import until

SIZE = "2m"
FILLER = "filler"


@contextmanager
def mounted(point: Path) -> Iterator[None]:
    """The small file system, for as long as the block runs."""
    point.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "tmpfs", str(point)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(point)], check=True)


def fill(point: Path) -> None:
    """Take all the room there is."""
    descriptor = os.open(point / FILLER, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        for size in (1 << 16, 1 << 12, 1):
            try:
                while True:
                    os.write(descriptor, bytes(size))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
    finally:
        os.close(descriptor)


async def fill_and_empty(point: Path) -> None:
    """Fill it in the midst of a turn, go on in memory, make room: everything is there."""
    state = point / "state"
    session = new(state)
    notices: list[Notice] = []
    session.files.on_trouble = notices.append
    for number in range(3):
        session.files.prompt_started(f"prompt {number}", number)
        for stored in exchange(number):
            session.files.append(stored)
    assert await session.files.flush(durable=True)
    assert await session.files.flush(), "the summary is written behind the answer"
    before = (session.directory / HISTORY).read_bytes()
    fill(point)
    saved = []
    for number in range(3, 200):
        session.files.prompt_started(f"prompt {number}", number)
        for stored in exchange(number):
            session.files.append(stored)
        session.files.record(delta(number, f"piece {number} " + "x" * 100, trace=str(number)))
        saved.append(await session.files.flush(durable=True))
    assert not saved[-1]
    assert (session.directory / HISTORY).read_bytes().startswith(before), "no old line is touched"
    summary = read_summary(session.directory)
    assert summary is not None, "never half a summary"
    assert summary.turns >= 3
    await until(lambda: bool(notices))
    (point / FILLER).unlink()
    assert await session.files.flush(durable=True)
    await until(lambda: [notice.code for notice in notices] == ["not_saving", "saving_again"])
    await session.files.close()
    assert not list(session.directory.glob(".*.tmp"))
    again = SessionStore(state).open(session.session_id)
    assert [stored.item for stored in again.items] == [s.item for n in range(200) for s in exchange(n)]
    assert again.notices == ()
    assert again.last_seq == 199
    assert not refusal_of(await go_on(again))


async def fill_at_any_byte(point: Path) -> None:
    """Leave so many bytes free that a write stops in the midst of a line; what is there opens all the same."""
    for free in range(1, 4_096, 409):
        state = point / f"state{free}"
        session = new(state)
        for stored in exchange(0):
            session.files.append(stored)
        assert await session.files.flush(durable=True)
        (point / FILLER).write_bytes(bytes(free))
        fill(point)
        os.truncate(point / FILLER, (point / FILLER).stat().st_size - 4_096)
        acknowledged = 0
        for number in range(1, 60):
            for stored in exchange(number):
                session.files.append(stored)
            if await session.files.flush(durable=True):
                acknowledged = number
        await session.files.close()
        (point / FILLER).unlink()
        again = SessionStore(state).open(session.session_id)
        whole = [stored.item for number in range(60) for stored in exchange(number)]
        found = [stored.item for stored in again.items]
        assert found == whole[: len(found)]
        assert 0 < acknowledged < 59
        assert len(found) >= 4 * (acknowledged + 1)
        assert not refusal_of(await go_on(again))


async def little_room(point: Path) -> None:
    """So little is free again that the history has no room for a second copy of it: what is missing is added."""
    state = point / "state"
    session = new(state)
    long = [Stored(user_text(f"prompt {number} " + "x" * 20_000, prompt_index=number)) for number in range(60)]
    for stored in long[:50]:
        session.files.append(stored)
    assert await session.files.flush(durable=True)
    fill(point)
    for stored in long[50:]:
        session.files.append(stored)
    assert not await session.files.flush(durable=True)
    os.truncate(point / FILLER, (point / FILLER).stat().st_size - 400_000)
    assert await session.files.flush(durable=True), "there is room for what is missing"
    await session.files.close()
    (point / FILLER).unlink()
    assert not list(session.directory.glob(".*.tmp"))
    again = SessionStore(state).open(session.session_id)
    assert list(again.items) == long
    assert not refusal_of(await go_on(again))


def mount_again(point: Path, how: str) -> None:
    """Make the file system read-only (`ro`), or writable again (`rw`)."""
    subprocess.run(["mount", "-o", f"remount,bind,{how}", str(point)], check=True)


async def forbid_and_allow(point: Path) -> None:
    """Open a stored session and begin another while it is read-only, go on in memory, make it writable."""
    state = point / "state"
    session_id = (await stored_session(state, 3)).session_id
    mount_again(point, "ro")
    sessions = [SessionStore(state).open(session_id), new(state)]
    notices: list[Notice] = []
    for session in sessions:
        assert [notice.code for notice in session.notices] == ["not_saving"]
        assert "Read-only file system" in session.notices[0].text
        session.files.on_trouble = notices.append
        session.files.prompt_started("prompt 3", 3)
        for item in exchange(3):
            session.files.append(item)
            assert not await session.files.flush(durable=True)
    assert len(sessions[0].items) == 12
    assert notices == [], "it was told once"
    mount_again(point, "rw")
    for session, turns in zip(sessions, [range(4), range(3, 4)], strict=True):
        assert await session.files.flush(durable=True)
        await session.files.close()
        again = SessionStore(state).open(session.session_id)
        assert [stored.item for stored in again.items] == [s.item for n in turns for s in exchange(n)]
        assert not refusal_of(await go_on(again))
    await until(lambda: [notice.code for notice in notices] == ["saving_again"] * 2)


def main() -> None:
    """Do one thing after the other, each in a file system of its own."""
    point = Path(sys.argv[1])
    for trial in (fill_and_empty, fill_at_any_byte, little_room, forbid_and_allow):
        with mounted(point):
            asyncio.run(trial(point))
    print("whole")


if __name__ == "__main__":
    main()
