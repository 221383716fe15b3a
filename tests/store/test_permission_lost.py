"""Folders that may not be entered any more: what is kept there is not taken for gone, and nothing else is hidden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import Notice
from grokmini.store.cleanup import clean
from grokmini.store.layout import HISTORY, SESSIONS, UPDATES
from grokmini.store.manage import delete
from grokmini.store.search_index import SearchIndex
from grokmini.store.sessions import SessionStore
from tests.permissions import held_to_permissions
from tests.store.ground import CWD, exchange, new, tell, told_session
from tests.waiting import until

PLACES: dict[str, Callable[[Path], Path]] = {
    "the session's": lambda directory: directory,
    "its group's": lambda directory: directory.parent,
    "that of all sessions": lambda directory: directory.parent.parent,
    "the state's": lambda directory: directory.parent.parent.parent,
}

every_folder = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)


@every_folder
async def test_the_session_goes_on_is_told_once_and_is_written_when_it_may_be_again(
    tmp_path: Path, place: Callable[[Path], Path]
) -> None:
    with held_to_permissions():
        session = new(tmp_path / "state")
        notices: list[Notice] = []
        session.files.on_trouble = notices.append
        tell(session, 0)
        assert await session.files.flush(durable=True)
        place(session.directory).chmod(0)
        tell(session, 1)
        await until(lambda: [notice.code for notice in notices] == ["not_saving"])
        assert "Permission denied" in notices[0].text
        assert "the writer failed" not in notices[0].text
        tell(session, 2)
        place(session.directory).chmod(0o700)
        assert await session.files.flush(durable=True)
        await session.files.close()
    assert [notice.code for notice in notices] == ["not_saving", "saving_again"]
    assert "gone" not in notices[1].text, "the record of events was there all the time"
    again = SessionStore(tmp_path / "state").open(session.session_id)
    assert [stored.item for stored in again.items] == [s.item for n in range(3) for s in exchange(n)]
    assert (again.notices, again.last_seq) == ((), 12)
    assert (again.directory / UPDATES).read_bytes().count(b"\n") == 12
    await again.files.close()


async def test_a_session_that_may_not_be_entered_hides_no_other_and_is_told_when_it_is_opened(
    tmp_path: Path,
) -> None:
    shut, other = [await told_session(tmp_path, 1) for _ in range(2)]
    store = SessionStore(tmp_path)
    with held_to_permissions():
        shut.directory.chmod(0)
        assert {info.session_id for info in store.list(9)} == {shut.session_id, other.session_id}
        with pytest.raises(SessionError, match="cannot be read: Permission denied"):
            store.open(shut.session_id)
        with pytest.raises(SessionError, match="cannot be removed: Permission denied"):
            delete(shut.directory)
        assert clean(tmp_path, tmp_path / "cache", ttl_days=1, now=4e9).sessions == 1
        shut.directory.chmod(0o700)
    assert (shut.directory / HISTORY).exists()
    assert not other.directory.exists()


async def test_sessions_that_cannot_be_listed_are_not_said_to_be_none(tmp_path: Path) -> None:
    state, index = tmp_path / "state", SearchIndex(tmp_path / "cache", tmp_path / "state")
    session = await told_session(state, 1)
    index.refresh()
    store = SessionStore(state)
    with held_to_permissions():
        session.directory.parent.chmod(0)
        with pytest.raises(SessionError, match="cannot be listed: Permission denied"):
            store.list(9, CWD)
        assert store.list(9) == []
        assert [error.filename for error in store.unlisted()] == [str(session.directory.parent)]
        session.directory.parent.chmod(0o700)
        (state / SESSIONS).chmod(0)
        for look in (
            lambda: store.list(9),
            lambda: store.latest(CWD),
            lambda: store.find("prompt 0"),
            index.refresh,
        ):
            with pytest.raises(SessionError, match="cannot be listed: Permission denied"):
                look()
        (state / SESSIONS).chmod(0o700)
    assert [hit.session_id for hit in index.search("prompt")] == [session.session_id]
    index.close()


async def test_a_link_that_leads_nowhere_hides_no_session(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    for folder in (session.directory.parent, tmp_path / SESSIONS):
        (folder / "loop").symlink_to("loop")
    assert [info.session_id for info in SessionStore(tmp_path).list(9)] == [session.session_id]
