"""`sessions repair`: what is lost is made again from what is left, and nothing is thrown away."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from grokmini.protocol.errors import SessionError
from grokmini.protocol.ids import time_of
from grokmini.store.driver_lock import SessionBusyError, is_driven
from grokmini.store.jsonl import CORRUPT
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES, make_group
from grokmini.store.repair import Repaired, repair_session
from grokmini.store.sessions import SessionStore
from grokmini.store.summary import Summary, read_summary
from tests.store.accepted import go_on, refusal_of
from tests.store.ground import CWD, child, contents, exchange, line_from, told_session

LONG = Path("/home/someone", *["a folder with a long name"] * 12)


def summary_of(directory: Path) -> Summary:
    """The summary, which is there."""
    summary = read_summary(directory)
    assert summary is not None
    return summary


@pytest.mark.parametrize(
    "damage", [None, b"", b'{"session_id":"x"', b"\xff\xfe", b'["a list"]', b'{"cwd":"/x"}']
)
async def test_a_summary_that_is_missing_or_damaged_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    session = await told_session(tmp_path, 3)
    before, path = summary_of(session.directory), session.directory / SUMMARY
    history = (session.directory / HISTORY).read_bytes()
    for name, written in ((HISTORY, 2_000), (UPDATES, 1_000)):
        os.utime(session.directory / name, (written, written))
    if damage is None:
        path.unlink()
        with pytest.raises(SessionError, match="cannot be resumed"):
            SessionStore(tmp_path).open(session.session_id)
    else:
        path.write_bytes(damage)
    assert repair_session(session.directory) == Repaired(True, 0, 0)
    kept = session.directory / f"{SUMMARY}{CORRUPT}"
    assert (kept.read_bytes() if kept.exists() else None) == damage
    made = summary_of(session.directory)
    assert (made.session_id, made.cwd, made.title) == (before.session_id, before.cwd, "prompt 0")
    assert (made.turns, made.messages, made.last_prompt) == (3, 12, "prompt 2")
    assert (made.model, made.models) == ("demo-1", ("demo-1",))
    assert made.created_at == time_of(session.session_id)
    assert made.updated_at == 2_000, "when something was written last"
    assert (made.usage["demo-1"].calls, made.usage["demo-1"].input) == (3, 30)
    assert (session.directory / HISTORY).read_bytes() == history
    assert [info.session_id for info in SessionStore(tmp_path).list(9)] == [session.session_id]
    again = SessionStore(tmp_path).open(session.session_id)
    assert [stored.item for stored in again.items] == [s.item for n in range(3) for s in exchange(n)]
    assert not refusal_of(await go_on(again))


async def test_a_sound_session_is_left_as_it_is(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 2)
    before = {path.name: (path.read_bytes(), path.stat().st_ino) for path in session.directory.iterdir()}
    assert repair_session(session.directory) == Repaired(False, 0, 0)
    after = {path.name: (path.read_bytes(), path.stat().st_ino) for path in session.directory.iterdir()}
    assert after.keys() == before.keys()
    assert all(after[name] == before[name] for name in (HISTORY, UPDATES, SUMMARY))


async def test_damaged_lines_go_from_the_history_once_and_are_kept_beside_it(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 2)
    path = session.directory / HISTORY
    lines = path.read_bytes().split(b"\n")
    newer = b'{"type":"hologram","depth":3,  "parts":[1.50]}'
    damaged = b"\n".join([lines[0], b"{half", *lines[1:4], newer, b"\xff\x00", *lines[4:-1], b'{"type":"us'])
    path.write_bytes(damaged)
    assert repair_session(session.directory) == Repaired(False, 3, 0)
    assert path.read_bytes() == b"\n".join([*lines[:4], newer, *lines[4:-1]]) + b"\n"
    assert (session.directory / f"{HISTORY}{CORRUPT}").read_bytes() == damaged
    assert repair_session(session.directory) == Repaired(False, 0, 0)
    again = SessionStore(tmp_path).open(session.session_id)
    assert (again.notices, len(again.items)) == ((), 9)
    await again.files.close()


async def test_lines_damaged_after_an_earlier_repair_are_kept_too(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    path = session.directory / HISTORY
    for precious in (b'{"first damage', b'{"second damage'):
        with path.open("ab") as file:
            file.write(precious + b"\n")
        assert repair_session(session.directory).lines_skipped == 1
    copy = session.directory / f"{HISTORY}{CORRUPT}"
    assert copy.read_bytes().splitlines()[-2:] == [b'{"first damage', b'{"second damage']
    for _ in range(3):
        with path.open("ab") as file:
            file.write(b'{"second damage\n')
        again = SessionStore(tmp_path).open(session.session_id)
        await again.files.close()
    assert len(copy.read_bytes().splitlines()) == 6, "what is kept already is not kept again"
    (session.directory / SUMMARY).write_bytes(b"{one")
    repair_session(session.directory)
    (session.directory / SUMMARY).write_bytes(b"{two")
    repair_session(session.directory)
    assert (session.directory / f"{SUMMARY}{CORRUPT}").read_bytes() == b"{one\n{two\n"


async def test_a_driven_session_is_refused_and_untouched(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    (session.directory / SUMMARY).write_bytes(b"{half")
    with (session.directory / HISTORY).open("ab") as file:
        file.write(b"{half\n")
    with child("hold", str(tmp_path), session.session_id) as driver:
        assert line_from(driver) == "driving"
        before = contents(session.directory)
        with pytest.raises(SessionBusyError, match=f"process {driver.pid} on"):
            repair_session(session.directory)
        assert contents(session.directory) == before
    assert repair_session(session.directory) == Repaired(True, 1, 0)
    assert not is_driven(session.directory)


def test_what_has_no_conversation_is_nothing_to_resume(tmp_path: Path) -> None:
    directory = make_group(tmp_path, CWD) / "01890000-0000-7000-8000-000000000000"
    directory.mkdir()
    (directory / HISTORY).write_bytes(b"")
    with pytest.raises(SessionError, match="neither a summary nor a conversation") as caught:
        repair_session(directory)
    assert caught.value.hint is not None
    assert f"grokmini sessions delete {directory.name}" in caught.value.hint
    assert not (directory / SUMMARY).exists()
    assert not is_driven(directory)


def test_a_directory_that_is_not_there_is_told_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="cannot be repaired: No such file or directory"):
        repair_session(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()


async def test_a_folder_with_a_long_name_is_known_again(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1, LONG)
    (session.directory / SUMMARY).unlink()
    repair_session(session.directory)
    assert summary_of(session.directory).cwd == str(LONG)


async def test_a_history_of_injected_items_alone_has_no_title(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    (session.directory / SUMMARY).unlink()
    (session.directory / UPDATES).unlink()
    line = msgspec.json.encode({"type": "assistant", "text": "hi"})
    (session.directory / HISTORY).write_bytes(line + b"\n")
    repair_session(session.directory)
    made = summary_of(session.directory)
    assert (made.title, made.turns, made.messages, made.model, made.last_prompt) == ("", 0, 1, "", "")
