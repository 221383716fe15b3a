"""Making, opening, listing and finding sessions."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from grokmini.protocol.errors import SessionError
from grokmini.protocol.ids import is_session_id, uuid7
from grokmini.protocol.model import Usage
from grokmini.store.layout import HISTORY, SUMMARY
from grokmini.store.sessions import SessionStore
from grokmini.store.summary import Summary, change_summary
from tests.store.ground import CWD, exchange, new, prompt, stored_session


def plant(root: Path, number: int, cwd: Path = CWD, title: str = "") -> str:
    """A stored session with nothing but its summary, older the lower its number."""
    session_id = uuid7(lambda: 1_700_000_000.0 + number)
    directory = new(root, cwd).directory.parent / session_id
    directory.mkdir(parents=True)
    change_summary(directory, {}, Summary(session_id=session_id, cwd=str(cwd), title=title))
    os.utime(directory, (1_000 + number, 1_000 + number))
    return session_id


async def test_a_session_is_there_again_with_all_it_held(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 3)
    again = SessionStore(tmp_path).open(before.session_id)
    assert is_session_id(before.session_id)
    assert [stored.item for stored in again.items] == [s.item for number in range(3) for s in exchange(number)]
    assert again.last_seq == 6
    assert again.notices == ()
    assert (again.summary.title, again.summary.last_prompt, again.summary.turns) == ("prompt 0", "prompt 2", 3)
    assert (again.summary.tokens, again.summary.messages, again.summary.models) == (30, 12, ("demo",))
    assert again.summary.cwd == str(CWD)
    await again.files.close()


async def test_opening_and_closing_rewrites_nothing(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 3)
    paths = [path for path in before.directory.iterdir() if path.name != "driver.lock"]
    contents = {path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in paths}
    again = SessionStore(tmp_path).open(before.session_id)
    await again.files.close()
    assert contents == {
        path: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) for path in paths
    }


async def test_items_and_fields_of_a_newer_version_survive_a_rewrite_byte_for_byte(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 1)
    lines = [
        b'{"type":"hologram","depth":3,  "parts":[1.50]}',
        b'{"type":"user","content":[{"type":"text","text":"hi"}],"mood":"\\u00fc","prompt_index":4}',
        b'{"type":"user","content":[{"type":"text","text":"x"}],"synthetic_reason":"moon_phase"}',
    ]
    with (before.directory / HISTORY).open("ab") as file:
        file.write(b"\n".join(lines) + b"\n")
    again = SessionStore(tmp_path).open(before.session_id)
    again.files.replace([prompt(9), *again.items[-3:]])
    await again.files.close()
    assert (before.directory / HISTORY).read_bytes().split(b"\n")[1:-1] == lines


async def test_a_history_with_escaped_lone_surrogates_opens_and_is_valid_when_rewritten(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 1)
    line = b'{"type":"user","content":[{"type":"text","text":"x\\ud99cy \\ud83d\\ude00"}],"more":1}\n'
    (before.directory / HISTORY).write_bytes(line)
    again = SessionStore(tmp_path).open(before.session_id)
    assert again.notices == ()
    again.files.replace(again.items)
    await again.files.close()
    written = msgspec.json.decode((before.directory / HISTORY).read_bytes())
    assert written["content"][0]["text"] == "x\ufffdy 😀"
    assert written["more"] == 1


async def test_h21_a_cut_last_line_costs_one_line_and_the_next_begins_on_its_own(tmp_path: Path) -> None:
    before = await stored_session(tmp_path, 50)
    history = before.directory / HISTORY
    os.truncate(history, history.stat().st_size - 17)
    store = SessionStore(tmp_path)
    again = store.open(before.session_id)
    assert len(again.items) == 199
    assert [notice.code for notice in again.notices] == ["lines_skipped"]
    assert again.notices[0].text.startswith("1 line of chat_history.jsonl could not be read")
    again.files.append(prompt(50))
    await again.files.close()
    third = store.open(before.session_id)
    assert len(third.items) == 200
    assert third.items[-1] == prompt(50)
    third.files.replace(third.items)
    await third.files.close()
    fourth = store.open(before.session_id)
    assert (len(fourth.items), fourth.notices) == (200, ())
    await fourth.files.close()


async def test_where_no_copy_of_the_damage_can_be_kept_the_session_opens_and_does_not_say_there_is_one(
    tmp_path: Path,
) -> None:
    before = await stored_session(tmp_path, 2)
    history = before.directory / HISTORY
    os.truncate(history, history.stat().st_size - 17)
    copy = history.with_name(f"{HISTORY}.corrupt")
    copy.mkdir()
    again = SessionStore(tmp_path).open(before.session_id)
    assert len(again.items) == 7
    (notice,) = again.notices
    assert notice.text.startswith("1 line of chat_history.jsonl could not be read")
    assert "is kept" not in notice.text
    assert f"no copy could be kept as {copy}" in notice.text
    assert f"copy {history} elsewhere" in notice.text
    await again.files.close()


async def test_a_session_in_which_nobody_said_anything_leaves_no_trace(tmp_path: Path) -> None:
    session = new(tmp_path)
    assert session.directory.is_dir()
    await session.files.close()
    assert not session.directory.exists()
    assert SessionStore(tmp_path).list(10) == []


async def test_a_file_that_somebody_put_into_an_empty_session_stays(tmp_path: Path) -> None:
    session = new(tmp_path)
    session.files.write("1-1.txt", b"output")
    await session.files.close()
    assert (session.directory / "tool_output" / "1-1.txt").read_bytes() == b"output"


def test_lists_are_newest_first_and_read_no_more_than_asked(tmp_path: Path) -> None:
    ids = [plant(tmp_path, number) for number in range(5)]
    other = plant(tmp_path, 9, Path("/elsewhere"))
    store = SessionStore(tmp_path)
    assert [info.session_id for info in store.list(3)] == [other, ids[4], ids[3]]
    assert [info.session_id for info in store.list(9, CWD)] == ids[::-1]
    assert store.list(9, Path("/nowhere")) == []
    latest = store.latest(CWD)
    assert latest is not None
    assert (latest.session_id, latest.updated) == (ids[4], 1_004.0)


def test_sessions_are_found_by_id_beginning_and_title(tmp_path: Path) -> None:
    fix, tests, other = (plant(tmp_path, n, title=t) for n, t in enumerate(("Fix it", "fix it twice", "Other")))
    store = SessionStore(tmp_path)

    def found(text: str) -> list[str]:
        return [info.session_id for info in store.find(text)]

    assert found(fix) == [fix]
    assert found(fix[:8]) == [other, tests, fix]
    assert found(fix[:-1]) == [fix]
    assert found(fix[:7]) == []
    assert found("FIX IT") == [fix]
    assert found("fix") == [tests, fix]
    assert found("nothing") == []
    assert SessionStore(tmp_path / "none").find("nothing") == []


@pytest.mark.parametrize("newer", ["a", "z"])
def test_of_copies_of_a_session_the_newest_is_meant(tmp_path: Path, newer: str) -> None:
    session_id = plant(tmp_path, 1, title="x")
    group = SessionStore(tmp_path).directory_of(session_id).parent
    for number, name in enumerate(sorted(["a", "z"], key=newer.__eq__), 2):
        copy = shutil.copytree(group / session_id, tmp_path / "sessions" / name / session_id)
        os.utime(copy, (1_000 + number, 1_000 + number))
    store, wanted = SessionStore(tmp_path), tmp_path / "sessions" / newer / session_id
    assert store.directory_of(session_id) == wanted
    assert [info.directory for info in store.list(9)] == [wanted]
    assert [info.directory for info in store.find(session_id)] == [wanted]


def test_a_missing_session_and_one_without_a_summary_cannot_be_opened(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    with pytest.raises(SessionError, match="no session"):
        store.open("../../etc")
    with pytest.raises(SessionError, match="There is no session"):
        store.open(uuid7())
    session_id = plant(tmp_path, 1)
    directory = store.find(session_id)[0].directory
    (directory / SUMMARY).unlink()
    with pytest.raises(SessionError, match="has no summary") as caught:
        store.open(session_id)
    assert str(directory) in caught.value.hint
    assert store.list(10) == []


def test_a_chosen_id_must_be_an_id_and_free(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    session_id = plant(tmp_path, 1)
    with pytest.raises(SessionError, match="exists already"):
        store.create(cwd=Path("/other"), model="m", session_id=session_id)
    with pytest.raises(SessionError, match="no session id"):
        store.create(cwd=CWD, model="m", session_id="../x")
    free = uuid7()
    assert store.create(cwd=CWD, model="m", session_id=free).session_id == free


async def test_h25_a_session_that_moved_is_one_file_and_knows_where_it_works(tmp_path: Path) -> None:
    session = new(tmp_path)
    session.files.append(prompt(0))
    session.files.directory_changed(str(CWD / "sub"))
    for number in range(1, 6):
        session.files.append(prompt(number))
    await session.files.close()
    again = SessionStore(tmp_path).open(session.session_id)
    assert len(again.items) == 6
    assert again.summary.working_directory == CWD / "sub"
    assert again.directory == session.directory
    assert len(list((tmp_path / "sessions").iterdir())) == 1
    await again.files.close()


async def test_what_was_learnt_of_models_and_spent_is_there_in_the_next_process(tmp_path: Path) -> None:

    session = new(tmp_path)
    session.files.append(prompt(0))
    session.files.factor_learnt("demo", 1.5)
    session.files.turn_ended(model="demo", tokens=1, messages=1)
    spent = {"demo": Usage(calls=1, input=5)}
    session.files.spent(spent, {"main": spent})
    await session.files.close()
    again = SessionStore(tmp_path).open(session.session_id)
    assert again.summary.usage == spent
    assert again.summary.usage_rows == {"main": spent}
    assert again.token_factors == {"demo": 1.5}
    await again.files.close()
    assert new(tmp_path).token_factors == {"demo": 1.5}
