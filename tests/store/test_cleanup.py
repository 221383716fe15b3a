"""Clean-up: what goes by age when the person asked for it, what goes for want of room, and what never goes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grokmini.store import cleanup
from grokmini.store.cleanup import DAY, clean, remove_if_old
from grokmini.store.layout import CAPPED_DIRECTORIES, HISTORY, SUMMARY, UPDATES
from grokmini.store.manage import pin
from grokmini.store.sessions import SessionStore
from grokmini.store.sqlite_file import DATABASE
from tests.store.ground import CWD, stored_session

NOW = 2_000_000_000.0
BLOCK = 65_536


def touched(path: Path, days_ago: float) -> None:
    """Make a file or directory so old."""
    when = NOW - days_ago * DAY
    os.utime(path, (when, when))


async def session_of_age(state: Path, days: float, cwd: Path = CWD) -> Path:
    """A stored session that nobody touched for so many days."""
    directory = (await stored_session(state, 1, cwd)).directory
    for path in (*directory.iterdir(), directory):
        touched(path, days)
    return directory


def spilled(directory: Path, name: str, days_ago: float, kind: str = "tool_output") -> Path:
    """A file of a session, or of the cache, of 64 KiB; the session is as old as before."""
    before = directory.stat()
    path = directory / kind / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * BLOCK)
    touched(path, days_ago)
    os.utime(directory, ns=(before.st_atime_ns, before.st_mtime_ns))
    return path


async def test_without_a_limit_no_session_ever_goes(tmp_path: Path) -> None:
    directory = await session_of_age(tmp_path, 10_000)
    assert clean(tmp_path, tmp_path / "cache", ttl_days=0, now=NOW).sessions == 0
    assert directory.is_dir()


async def test_what_nobody_touched_for_so_long_goes_with_its_folder_and_nothing_else(tmp_path: Path) -> None:
    old = await session_of_age(tmp_path, 31, Path("/home/someone/old"))
    young = await session_of_age(tmp_path, 29)
    assert clean(tmp_path, tmp_path / "cache", ttl_days=30, now=NOW).sessions == 1
    assert not old.parent.exists()
    assert {path.name for path in young.iterdir()} >= {HISTORY, UPDATES, SUMMARY}
    assert [info.directory for info in SessionStore(tmp_path).list(9)] == [young]


@pytest.mark.parametrize("name", [HISTORY, UPDATES])
async def test_a_session_that_was_written_to_lately_stays(tmp_path: Path, name: str) -> None:
    directory = await session_of_age(tmp_path, 100)
    touched(directory / name, 1)
    assert clean(tmp_path, tmp_path / "cache", ttl_days=30, now=NOW).sessions == 0
    assert directory.is_dir()


async def test_pinned_and_driven_sessions_and_those_with_a_damaged_summary_stay(tmp_path: Path) -> None:
    pinned = await session_of_age(tmp_path, 100)
    pin(pinned, True)
    driven = await session_of_age(tmp_path, 100)
    damaged = await session_of_age(tmp_path, 100)
    (damaged / SUMMARY).write_text("{")
    open_session = SessionStore(tmp_path).open(driven.name)
    for directory in (pinned, driven, damaged):
        for path in (*directory.iterdir(), directory):
            touched(path, 100)
    spills = [spilled(directory, "out.txt", 100) for directory in (pinned, driven)]
    assert clean(tmp_path, tmp_path / "cache", ttl_days=30, cap_bytes=0, now=NOW).sessions == 0
    assert all(path.exists() for path in (pinned, driven, damaged, *spills))
    await open_session.files.close()


async def test_a_session_that_is_taken_up_between_two_looks_stays(tmp_path: Path) -> None:
    """It was old when the list was made; it is looked at again once nobody can touch it."""
    before = NOW - 30 * DAY
    taken_up, left = [await session_of_age(tmp_path, 100, Path(f"/home/{name}")) for name in ("a", "b")]
    touched(taken_up / HISTORY, 1)
    assert [remove_if_old(directory, before) for directory in (taken_up, left)] == [False, True]
    assert (taken_up / HISTORY).exists()
    assert not left.exists()


async def test_looking_makes_no_session_young(tmp_path: Path) -> None:
    directory = await session_of_age(tmp_path, 20)
    clean(tmp_path, tmp_path / "cache", ttl_days=30, cap_bytes=0, now=NOW)
    assert clean(tmp_path, tmp_path / "cache", ttl_days=30, now=NOW + 11 * DAY).sessions == 1
    assert not directory.exists()


async def test_over_the_cap_the_oldest_goes_first_and_no_more_than_is_needed(tmp_path: Path) -> None:
    state, cache = tmp_path / "state", tmp_path / "cache"
    directory = await session_of_age(state, 5)
    oldest = spilled(directory, "a.txt", 30)
    cache.mkdir()
    older = spilled(cache, "b.whl", 20, kind="tools")
    newer = spilled(directory, "c.txt", 10)
    cleaned = clean(state, cache, ttl_days=0, cap_bytes=BLOCK * 3 // 2, now=NOW)
    assert cleaned.bytes == 2 * BLOCK
    assert [path.exists() for path in (oldest, older, newer)] == [False, False, True]
    assert clean(state, cache, ttl_days=0, cap_bytes=BLOCK * 3 // 2, now=NOW).bytes == 0


async def test_for_want_of_room_only_what_can_be_spared_goes_never_the_conversation(tmp_path: Path) -> None:
    state = tmp_path / "state"
    directory = await session_of_age(state, 5)
    spare = [spilled(directory, "x", 50, kind=kind) for kind in CAPPED_DIRECTORIES]
    kept = [spilled(directory, "x", 50, kind=kind) for kind in ("prompts", "compaction")]
    kept += [directory / name for name in (HISTORY, UPDATES, SUMMARY)]
    clean(state, tmp_path / "cache", ttl_days=0, cap_bytes=0, now=NOW)
    assert not any(path.exists() for path in spare)
    assert all(path.exists() for path in kept)


def test_a_folder_that_became_a_link_since_it_was_looked_at_leads_to_nobodys_files(tmp_path: Path) -> None:
    """A command of another session may exchange its own folder for a link while files go."""
    cache, victim = tmp_path / "cache", tmp_path / "victim"
    folder = cache / "tools/xdg/d"
    folder.mkdir(parents=True)
    victim.mkdir()
    for place in (folder, victim):
        (place / "file").write_bytes(bytes(8_192))
        os.utime(place / "file", (DAY, DAY))
    (found,) = cleanup._files(cache, "")
    folder.rename(tmp_path / "aside")
    folder.symlink_to(victim)
    assert not cleanup._unlink(found)
    assert (victim / "file").exists()


def test_what_commands_call_a_database_is_removed_as_any_file(tmp_path: Path) -> None:
    """No lock is opened beside it: that may be a link."""
    folder = tmp_path / "cache/tools/xdg"
    folder.mkdir(parents=True)
    (folder / f"x{DATABASE}").write_bytes(bytes(8_192))
    outside = tmp_path / "outside"
    (folder / "x.lock").symlink_to(outside)
    clean(tmp_path / "state", tmp_path / "cache", ttl_days=0, cap_bytes=0, now=DAY)
    assert not (folder / f"x{DATABASE}").exists()
    assert not outside.exists()
