"""What breaks while nobody looks is found and mended, and looking changes nothing."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from grokmini.protocol.codec import encode_event
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import (
    DirectoryChanged,
    SandboxChanged,
    SessionStarted,
    TextDelta,
    TitleChanged,
    ToolCallReady,
)
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace
from grokmini.store.cleanup import DAY, clean
from grokmini.store.driver_lock import holder
from grokmini.store.follow import READ_LIMIT, UpdatesTail
from grokmini.store.fork import fork_session
from grokmini.store.jsonl import CORRUPT
from grokmini.store.layout import DRIVER_LOCK, HISTORY, SUMMARY, TOOL_OUTPUT, UPDATES
from grokmini.store.lease import Lease
from grokmini.store.repair import repair_session
from grokmini.store.search_index import MANY, SearchIndex
from grokmini.store.sessions import SessionStore
from grokmini.store.summary import Summary, change_summary, read_summary
from tests.store.ground import REPOSITORY, record, told_session

LONG_AGO = 1e9
TOOL = ToolEnvelope("everywhere", ToolKind.SEARCH, ToolNamespace.GROK_BUILD, "", True)


def age(directory: Path) -> None:
    """As if nobody had touched the session for years."""
    for path in (*directory.iterdir(), directory):
        os.utime(path, (LONG_AGO, LONG_AGO))


async def test_an_index_damaged_in_its_midst_is_made_anew_by_whoever_meets_the_damage(tmp_path: Path) -> None:
    for number in range(30):
        await told_session(tmp_path / "state", 2, ask=f"needle{number} " * 50)
    index = SearchIndex(tmp_path / "cache", tmp_path / "state")
    index.refresh(None)
    assert len(index.search("needle7")) == 1
    index.close()
    database = tmp_path / "cache" / "search.db"
    data = database.read_bytes()
    database.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    assert len(index.search("needle7")) == 1
    index.close()
    database.write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    index.refresh(None)
    assert len(index.search("needle8")) == 1
    index.close()
    held = sqlite3.connect(database)
    assert held.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    held.close()


async def test_two_processes_make_one_index_at_once(tmp_path: Path) -> None:
    for number in range(40):
        await told_session(tmp_path / "state", 1, ask=f"needle{number}")
    (tmp_path / "cache").mkdir()
    old = sqlite3.connect(tmp_path / "cache" / "search.db")
    old.execute("PRAGMA user_version = 99")
    old.close()
    program = (
        "import sys; from pathlib import Path; from grokmini.store.search_index import SearchIndex\n"
        "index = SearchIndex(Path(sys.argv[1], 'cache'), Path(sys.argv[1], 'state'))\n"
        "index.refresh(None); print(len(index.search('needle7')), len(index.search('needle', limit=100)))"
    )
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    assert [maker.communicate()[0] for maker in makers] == ["1 40\n"] * 3


async def test_the_last_words_of_a_killed_session_are_found(tmp_path: Path) -> None:
    session = await told_session(tmp_path / "state", 1)
    index = SearchIndex(tmp_path / "cache", tmp_path / "state")
    index.refresh(None)
    line = encode_event(record(99, TextDelta("lastwords")))
    with (session.directory / UPDATES).open("ab") as file:
        file.write(line + b"\n")
    index.refresh(None)
    assert [hit.session_id for hit in index.search("lastwords")] == [session.session_id]
    index.close()


async def test_a_session_whose_events_cannot_be_read_hides_no_other(tmp_path: Path) -> None:
    broken = await told_session(tmp_path / "state", 1, ask="one needle")
    whole = await told_session(tmp_path / "state", 1, ask="two needle")
    (broken.directory / UPDATES).unlink()
    (broken.directory / UPDATES).mkdir()
    index = SearchIndex(tmp_path / "cache", tmp_path / "state")
    index.refresh(None)
    assert {hit.session_id for hit in index.search("needle")} == {whole.session_id, broken.session_id}
    assert {hit.kind for hit in index.search("one")} == {"title"}
    index.close()


async def test_clean_up_takes_an_old_session_that_never_had_a_lock_file(tmp_path: Path) -> None:
    session = await told_session(tmp_path / "state", 1)
    (session.directory / DRIVER_LOCK).unlink()
    age(session.directory)
    cleaned = clean(tmp_path / "state", tmp_path / "cache", ttl_days=1, now=LONG_AGO + 2 * DAY)
    assert cleaned.sessions == 1
    assert not session.directory.exists()


async def test_clean_up_leaves_the_age_of_what_it_looks_at(tmp_path: Path) -> None:
    session = await told_session(tmp_path / "state", 1)
    spill = session.directory / TOOL_OUTPUT / "1-1.txt"
    spill.parent.mkdir()
    spill.write_bytes(b"x" * 10_000)
    (session.directory / DRIVER_LOCK).unlink()
    age(session.directory)
    cleaned = clean(tmp_path / "state", tmp_path / "cache", ttl_days=0, cap_bytes=100, now=LONG_AGO)
    assert cleaned.bytes >= 10_000
    assert not spill.exists()
    assert session.directory.exists()
    assert SessionStore(tmp_path / "state").list(1)[0].updated == LONG_AGO


async def test_asking_who_holds_a_lease_leaves_the_age_of_the_session(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    Lease.acquire(session.directory)
    age(session.directory)
    assert holder(session.directory) is None, "a lease that old is nobody's"
    assert session.directory.stat().st_mtime == LONG_AGO


async def test_clean_up_takes_a_database_with_all_its_parts_or_not_at_all(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("search.db", "search.db-wal", "search.db-shm", "other"):
        (cache / name).write_bytes(b"x" * 8_192)
    for name in ("search.db", "search.db-wal"):
        os.utime(cache / name, (LONG_AGO, LONG_AGO))
    clean(tmp_path / "state", cache, ttl_days=0, cap_bytes=10_000, now=LONG_AGO)
    assert {path.name for path in cache.iterdir()} == {"other", "search.lock"}


async def test_a_copy_of_a_session_in_use_marks_nothing_as_damaged_and_owes_nothing(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 2)
    with (session.directory / HISTORY).open("ab") as file:
        file.write(b'{"type":"user","conte')
    made = fork_session(SessionStore(tmp_path), session.session_id)
    assert not list(session.directory.glob(f"*{CORRUPT}"))
    summary = read_summary(made.directory)
    assert summary is not None
    assert (summary.usage, summary.usage_rows) == ({}, {})
    again = SessionStore(tmp_path).open(made.session_id)
    assert (len(again.items), again.notices) == (8, ())
    await again.files.close()


async def test_what_a_driver_left_that_was_killed_in_a_rewrite_is_removed(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    left = session.directory / f".{HISTORY}.123.tmp"
    others = session.directory / f".{SUMMARY}.123.tmp"
    for path in (left, others):
        path.write_bytes(b"half")
    again = SessionStore(tmp_path).open(session.session_id)
    assert not left.exists()
    assert others.exists(), "another process may be writing it"
    again.files.title_changed("another", "manual")
    await again.files.close()
    assert not others.exists(), "whoever holds the lock knows that nobody does"


async def test_a_session_is_repaired_from_its_events_where_the_history_is_lost(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 2, ask="find the needle")
    with (session.directory / UPDATES).open("ab") as file:
        for event in (
            TitleChanged("A name", "manual"),
            DirectoryChanged("/elsewhere"),
            SandboxChanged("strict", "strict, in part", cause="chosen"),
            SandboxChanged("strict", "strict", cause="proved"),
            SessionStarted("0", "/", "m", PermissionMode.ASK, "workspace, untried"),
        ):
            file.write(encode_event(record(99, event)) + b"\n")
    for name in (SUMMARY, HISTORY):
        (session.directory / name).unlink()
    assert repair_session(session.directory).summary_rebuilt
    summary = read_summary(session.directory)
    assert summary is not None
    assert (summary.title, summary.title_source, summary.turns) == ("A name", "manual", 2)
    assert (summary.current_cwd, summary.last_prompt) == ("/elsewhere", "find the needle")
    assert summary.sandbox_profile == "strict"
    assert summary.usage["demo-1"].calls == 2


async def test_repair_throws_no_line_away_that_it_cannot_keep_a_copy_of(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    history = session.directory / HISTORY
    damaged = history.read_bytes() + b"{half\n"
    history.write_bytes(damaged)
    os.symlink(tmp_path / "nowhere" / "x", session.directory / f"{HISTORY}{CORRUPT}")
    with pytest.raises(SessionError, match="no copy"):
        repair_session(session.directory)
    assert history.read_bytes() == damaged


async def test_a_damaged_summary_is_kept_when_it_is_written_anew(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    (session.directory / SUMMARY).write_bytes(b'{"half')
    change_summary(session.directory, {"title": "t"}, Summary(session_id=session.session_id, cwd="/x"))
    assert (session.directory / f"{SUMMARY}{CORRUPT}").read_bytes() == b'{"half'
    found = read_summary(session.directory)
    assert found is not None
    assert found.title == "t"


def test_a_reader_far_behind_is_told_so_whatever_the_length_of_lines(tmp_path: Path) -> None:
    lengths = (READ_LIMIT // 8, READ_LIMIT * 7 // 8, READ_LIMIT * 2, 10)
    events = [record(number, TextDelta("x" * length)) for number, length in enumerate(lengths, 1)]
    (tmp_path / UPDATES).write_bytes(b"".join(encode_event(event) + b"\n" for event in events) + b'{"torn')
    tail = UpdatesTail(tmp_path)
    found = tail.read()
    while tail.behind:
        found += tail.read()
    assert found == events
    assert tail.read() == []


async def test_words_that_are_everywhere_are_found_in_the_newest_sessions_first(tmp_path: Path) -> None:
    old = await told_session(tmp_path / "state", 1, ask="needle")
    for session in (old, await told_session(tmp_path / "state", 1, ask="needle " * 9)):
        events = (record(10 + number, ToolCallReady("c", TOOL, "{}")) for number in range(MANY))
        with (session.directory / UPDATES).open("ab") as file:
            file.writelines(encode_event(event) + b"\n" for event in events)
    change_summary(old.directory, {"updated_at": 9e9, "title": "other"}, old.summary)
    change_summary(session.directory, {"title": "other"}, session.summary)
    index = SearchIndex(tmp_path / "cache", tmp_path / "state")
    index.refresh(None)
    found = index.search("everywhere")
    assert [hit.session_id for hit in found] == [old.session_id, session.session_id]
    assert {hit.snippet for hit in found} == {"everywhere"}
    index.close()
