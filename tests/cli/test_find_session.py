"""What a person writes for a session: an id, the beginning of one, or a title."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.cli.find_session import find_session, latest_session, session_to_follow
from grokmini.protocol.errors import SessionError
from grokmini.protocol.items import Stored, user_text
from grokmini.store.manage import rename
from grokmini.store.sessions import SessionInfo, SessionStore

HERE, THERE = Path("/home/someone/here"), Path("/home/someone/there")


async def saved(root: Path, words: str, cwd: Path = HERE) -> SessionInfo:
    """A session in which somebody said that."""
    store = SessionStore(root)
    session = store.create(cwd=cwd, model="m")
    session.files.prompt_started(words, 0)
    session.files.append(Stored(user_text(words, prompt_index=0)))
    await session.files.close()
    return next(info for info in store.list(100) if info.session_id == session.session_id)


def found(root: Path, text: str) -> str:
    """The id of the session that is meant."""
    return find_session(SessionStore(root), text, HERE).session_id


async def test_an_id_or_its_beginning_counts_everywhere(tmp_path: Path) -> None:
    one = await saved(tmp_path, "one", THERE)
    assert found(tmp_path, one.session_id) == one.session_id
    assert found(tmp_path, one.session_id[:30]) == one.session_id


async def test_a_whole_id_is_never_a_title(tmp_path: Path) -> None:
    text = "01930c5e-0000-7000-8000-000000000000"
    await saved(tmp_path, text)
    with pytest.raises(SessionError, match="no session has an id"):
        found(tmp_path, text)


async def test_a_title_counts_in_any_case_and_its_beginning_too(tmp_path: Path) -> None:
    one = await saved(tmp_path, "Fix the calc")
    assert found(tmp_path, "fix THE calc") == one.session_id
    assert found(tmp_path, "fix") == one.session_id


async def test_the_whole_title_goes_before_one_that_only_begins_so(tmp_path: Path) -> None:
    await saved(tmp_path, "fix the calc")
    short = await saved(tmp_path, "fix")
    assert found(tmp_path, "fix") == short.session_id


async def test_this_folder_goes_before_others(tmp_path: Path) -> None:
    here = await saved(tmp_path, "fix")
    there = await saved(tmp_path, "fix", THERE)
    only = await saved(tmp_path, "elsewhere", THERE)
    assert found(tmp_path, "fix") == here.session_id != there.session_id
    assert found(tmp_path, "elsewhere") == only.session_id


async def test_several_are_listed_with_their_ids(tmp_path: Path) -> None:
    one, two = await saved(tmp_path, "fix"), await saved(tmp_path, "fix")
    with pytest.raises(SessionError) as caught:
        found(tmp_path, "fix")
    assert one.session_id in caught.value.message
    assert two.session_id in caught.value.message
    assert caught.value.hint == "name one by its id"


async def test_of_several_the_one_that_a_person_named_is_meant(tmp_path: Path) -> None:
    one, _ = await saved(tmp_path, "why"), await saved(tmp_path, "fix")
    rename(one.directory, "fix")
    assert found(tmp_path, "fix") == one.session_id
    two = await saved(tmp_path, "what")
    rename(two.directory, "Fix")
    with pytest.raises(SessionError, match="several sessions"):
        found(tmp_path, "fix")


async def test_what_is_not_there_is_told_with_what_may_be_meant(tmp_path: Path) -> None:
    await saved(tmp_path, "fix the calc")
    with pytest.raises(SessionError) as caught:
        found(tmp_path, "fix teh calc")
    assert "did you mean 'fix the calc'?" in caught.value.hint
    with pytest.raises(SessionError) as caught:
        found(tmp_path, "0193")
    assert "8 characters or more" in caught.value.hint
    with pytest.raises(SessionError):
        found(tmp_path, "")


async def test_without_a_name_the_newest_that_runs_is_followed_else_the_newest(tmp_path: Path) -> None:
    older, newest = await saved(tmp_path, "older"), await saved(tmp_path, "newest")
    store = SessionStore(tmp_path)
    assert latest_session(store, HERE).session_id == newest.session_id
    assert session_to_follow(store, "", HERE).session_id == newest.session_id
    running = store.open(older.session_id)
    assert session_to_follow(store, "", HERE).session_id == older.session_id
    assert session_to_follow(store, "newest", HERE).session_id == newest.session_id
    await running.files.close()
    with pytest.raises(SessionError, match="no session in"):
        session_to_follow(store, "", THERE)
