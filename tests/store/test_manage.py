"""Renaming, pinning and deleting stored sessions."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from grokmini.protocol.errors import SessionError
from grokmini.store.driver_lock import SessionBusyError
from grokmini.store.layout import HISTORY, REAL_CWD, SUMMARY, UPDATES
from grokmini.store.manage import delete, pin, remove_empty_group, rename
from grokmini.store.session_disk import SessionDisk
from grokmini.store.sessions import SessionStore
from grokmini.store.summary import Summary, read_summary
from tests.store.ground import CWD, child, contents, line_from, new, stored_session, tell, told_session
from tests.waiting import SECONDS

LONG = Path("/home/someone", *["a folder with a long name"] * 12)


def summary_of(directory: Path) -> Summary:
    """The summary, which is there."""
    summary = read_summary(directory)
    assert summary is not None
    return summary


async def test_a_title_of_ones_own_stays_and_is_found(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 2)
    assert rename(session.directory, "  The\x1b[31m big\n fix ") == "The␛[31m big"
    summary = summary_of(session.directory)
    assert (summary.title, summary.title_source) == ("The␛[31m big", "manual")
    again = SessionStore(tmp_path).open(session.session_id)
    tell(again, 2)
    again.files.title_changed("Made in the background", "generated")
    await again.files.close()
    assert summary_of(session.directory).title == "The␛[31m big"
    assert [info.session_id for info in SessionStore(tmp_path).find("the␛[31m BIG")] == [session.session_id]


async def test_a_title_is_one_line_of_at_most_80_characters(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    kept = rename(session.directory, "ü" * 500)
    assert kept == "ü" * 79 + "…"
    assert summary_of(session.directory).title == kept


async def test_an_empty_title_gives_the_session_back_to_titles_that_are_made(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 2)
    rename(session.directory, "Mine")
    assert rename(session.directory, " \n\t ") == "prompt 0"
    summary = summary_of(session.directory)
    assert (summary.title, summary.title_source) == ("prompt 0", "prompt")


async def test_the_first_prompt_is_known_when_the_history_has_forgotten_it(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 3)
    again = SessionStore(tmp_path).open(session.session_id)
    again.files.replace(again.items[-4:])
    await again.files.close()
    rename(session.directory, "Mine")
    assert rename(session.directory, "") == "prompt 0"
    (session.directory / UPDATES).unlink()
    assert rename(session.directory, "") == "prompt 2", "the best that is left"


async def test_a_session_that_another_process_drives_is_renamed_and_pinned_and_keeps_both(
    tmp_path: Path,
) -> None:
    session = await told_session(tmp_path, 1)
    with child("hold", str(tmp_path), session.session_id) as driver:
        assert line_from(driver) == "driving"
        rename(session.directory, "Renamed meanwhile")
        pin(session.directory, True)
        assert driver.stdin is not None
        driver.stdin.close()
        driver.wait(SECONDS)
    summary = summary_of(session.directory)
    assert (summary.title, summary.pinned) == ("Renamed meanwhile", True)


async def test_pins_come_and_go_and_touch_nothing_else(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    before, files = summary_of(session.directory), contents(session.directory)
    pin(session.directory, True)
    assert summary_of(session.directory) == msgspec.structs.replace(before, pinned=True)
    pin(session.directory, False)
    assert contents(session.directory) == files


async def test_fields_of_a_newer_version_outlive_a_new_title(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    path = session.directory / SUMMARY
    path.write_bytes(path.read_bytes().replace(b"{", b'{"mood":{"depth":1.50},', 1))
    rename(session.directory, "New")
    assert msgspec.json.decode(path.read_bytes())["mood"] == {"depth": 1.5}


async def test_without_a_summary_there_is_nothing_to_rename_and_the_error_says_how_to_mend_it(
    tmp_path: Path,
) -> None:
    session = await told_session(tmp_path, 1)
    (session.directory / SUMMARY).write_bytes(b"{torn")
    for change in (lambda: rename(session.directory, "x"), lambda: pin(session.directory, True)):
        with pytest.raises(SessionError, match=r"no summary\.json that can be read") as caught:
            change()
        assert caught.value.hint == f"Rebuild it: grokmini sessions repair {session.session_id}"
    assert (session.directory / SUMMARY).read_bytes() == b"{torn"


async def test_a_deleted_session_is_gone_with_all_that_was_in_it(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    other = await told_session(tmp_path, 1)
    child_session = session.directory / "subagents" / "one"
    child_session.mkdir(parents=True)
    (child_session / HISTORY).write_bytes(b"{}\n")
    delete(session.directory)
    assert not session.directory.exists()
    assert [info.session_id for info in SessionStore(tmp_path).list(9)] == [other.session_id]
    with pytest.raises(SessionError, match="There is no session"):
        delete(session.directory)


async def test_a_deleted_link_takes_nothing_that_it_points_to(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_bytes(b"x")
    (session.directory / "link").symlink_to(outside)
    delete(session.directory)
    assert (outside / "precious").exists()


async def test_the_last_session_of_a_folder_takes_the_folders_directory_along(tmp_path: Path) -> None:
    for cwd in (CWD, LONG):
        first, second = await stored_session(tmp_path, 1, cwd), await stored_session(tmp_path, 1, cwd)
        group = first.directory.parent
        assert (group / REAL_CWD).exists() == (cwd is LONG)
        delete(first.directory)
        assert group.is_dir()
        delete(second.directory)
        assert not group.exists()


def test_a_folders_directory_with_anything_in_it_stays(tmp_path: Path) -> None:
    group = tmp_path / "group"
    (group / "session").mkdir(parents=True)
    (group / REAL_CWD).write_bytes(b"/x")
    remove_empty_group(group)
    assert (group / REAL_CWD).exists()
    remove_empty_group(tmp_path / "nowhere")


async def test_a_driven_session_is_not_deleted_and_the_holder_is_named(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    before = contents(session.directory)
    with child("hold", str(tmp_path), session.session_id) as driver:
        assert line_from(driver) == "driving"
        with pytest.raises(SessionBusyError, match=f"process {driver.pid} on"):
            delete(session.directory)
    assert contents(session.directory) == before
    delete(session.directory)
    assert not session.directory.exists()


async def test_this_process_too_deletes_nothing_that_it_drives(tmp_path: Path) -> None:
    session = new(tmp_path)
    tell(session, 0)
    assert await session.files.flush()
    with pytest.raises(SessionBusyError, match=f"process {os.getpid()} on"):
        delete(session.directory)
    await session.files.close()
    assert len(SessionStore(tmp_path).list(9)) == 1


async def test_a_summary_that_cannot_be_written_is_told_with_its_path(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    lock = session.directory / "summary.json.lock"
    lock.unlink()
    lock.mkdir()
    with pytest.raises(SessionError, match=f"{SUMMARY} cannot be written: Is a directory"):
        rename(session.directory, "x")


async def test_a_session_deleted_while_it_is_being_opened_does_not_come_back(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 2)
    disk = SessionDisk(tmp_path, session.directory, session.summary, new=False)
    delete(session.directory)
    with pytest.raises(FileNotFoundError):
        disk.acquire(make=False)
    assert contents(tmp_path / "sessions") == {}


async def test_opening_and_deleting_at_once_gives_the_whole_session_or_none(tmp_path: Path, full: bool) -> None:
    store = SessionStore(tmp_path)
    for _ in range(500 if full else 10):
        session = await told_session(tmp_path, 1)
        opened, deleted = await asyncio.gather(
            asyncio.to_thread(store.open, session.session_id),
            asyncio.to_thread(delete, session.directory),
            return_exceptions=True,
        )
        if isinstance(opened, SessionError):
            assert deleted is None
        else:
            assert not isinstance(opened, BaseException)
            assert isinstance(deleted, SessionBusyError)
            assert len(opened.items) == 4
            await opened.files.close()
            delete(session.directory)
        assert not session.directory.exists()


async def test_what_a_killed_deletion_left_is_in_no_list_and_goes_with_the_next(tmp_path: Path) -> None:
    first, second, third = [await told_session(tmp_path, 1) for _ in range(3)]
    left = first.directory.rename(first.directory.with_name(f".deleted-{first.session_id}"))
    store = SessionStore(tmp_path)
    assert [info.session_id for info in store.list(9)] == [third.session_id, second.session_id]
    with pytest.raises(SessionError, match="There is no session"):
        store.open(first.session_id)
    delete(second.directory)
    assert (left.exists(), third.directory.exists()) == (False, True)
    delete(third.directory)
    assert list((tmp_path / "sessions").iterdir()) == []
