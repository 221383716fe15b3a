"""`--continue` goes on with the latest session of the folder and with no other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from grokmini.cli.choose_session import OpenAs, open_files
from grokmini.config.paths import Places
from grokmini.protocol.errors import SessionError
from grokmini.protocol.items import Stored, user_text
from grokmini.store.driver_lock import SessionBusyError
from grokmini.store.sessions import OpenSession, SessionStore
from tests.waiting import SECONDS

CWD = Path("/home/someone/project")


def places(root: Path) -> Places:
    return Places(root, root, root, root)


async def saved(root: Path, words: str) -> str:
    """The id of a session in which somebody said that."""
    session = SessionStore(root).create(cwd=CWD, model="m")
    session.files.prompt_started(words, 0)
    session.files.append(Stored(user_text(words, prompt_index=0)))
    await session.files.close()
    return session.session_id


async def go_on(root: Path, *, interactive: bool, wait_seconds: float = 0.0) -> OpenSession:
    return await open_files(
        OpenAs(latest=True),
        places(root),
        CWD,
        model="m",
        branch="",
        interactive=interactive,
        wait_seconds=wait_seconds,
    )


@pytest.mark.parametrize("interactive", [True, False])
async def test_a_latest_session_in_use_is_named_with_its_holder_and_the_one_before_it_is_offered(
    tmp_path: Path, interactive: bool
) -> None:
    older = await saved(tmp_path, "an older talk")
    newest = SessionStore(tmp_path).open(await saved(tmp_path, "the newest talk"))
    with pytest.raises(SessionBusyError, match=r"process \d+ on") as caught:
        await go_on(tmp_path, interactive=interactive)
    assert newest.session_id in caught.value.message
    assert f"--resume={older} (an older talk)" in caught.value.hint
    await newest.files.close()


async def test_the_only_session_in_use_leaves_a_new_one_to_start(tmp_path: Path) -> None:
    only = SessionStore(tmp_path).open(await saved(tmp_path, "the only talk"))
    with pytest.raises(SessionBusyError) as caught:
        await go_on(tmp_path, interactive=True)
    assert f"--fork --resume={only.session_id}" in caught.value.hint
    assert caught.value.hint.count("--resume") == 1
    assert "start a new one" in caught.value.hint
    await only.files.close()


async def test_a_run_without_a_person_waits_until_the_other_leaves(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = SessionStore(tmp_path).open(await saved(tmp_path, "a talk"))
    waiting = asyncio.create_task(go_on(tmp_path, interactive=False, wait_seconds=3_600))
    said = ""
    while "waiting up to 3600 s" not in said:
        await asyncio.sleep(0.01)
        said += capsys.readouterr().err
    assert not waiting.done()
    await first.files.close()
    opened = await waiting
    assert opened.session_id == first.session_id
    await opened.files.close()


async def test_waiting_can_be_given_up_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No thread of it is left that a leaving process would have to wait for."""
    held = SessionStore(tmp_path).open(await saved(tmp_path, "a talk"))
    waiting = asyncio.create_task(go_on(tmp_path, interactive=False, wait_seconds=3_600))
    while not capsys.readouterr().err:
        await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await asyncio.wait_for(asyncio.get_running_loop().shutdown_default_executor(), SECONDS)
    await held.files.close()


async def test_a_run_without_a_person_waits_for_half_a_minute_unless_told_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = SessionStore(tmp_path).open(await saved(tmp_path, "a talk"))
    opening = open_files(OpenAs(latest=True), places(tmp_path), CWD, model="m", branch="", interactive=False)
    waiting = asyncio.create_task(opening)
    said = ""
    while not said:
        await asyncio.sleep(0.01)
        said = capsys.readouterr().err
    assert "is open in process" in said
    assert "waiting up to 30 s for it" in said
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await held.files.close()


async def test_a_folder_without_sessions_has_nothing_to_go_on_with(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="there is no session in"):
        await go_on(tmp_path, interactive=True)


async def test_a_fork_goes_on_in_a_copy_also_of_a_session_in_use(tmp_path: Path) -> None:
    held = SessionStore(tmp_path).open(await saved(tmp_path, "a talk"))
    elsewhere = Path("/home/someone/elsewhere")
    opened = await open_files(
        OpenAs(resume=held.session_id, fork=True),
        places(tmp_path),
        elsewhere,
        model="m",
        branch="",
        interactive=False,
    )
    assert opened.session_id != held.session_id
    assert (opened.summary.parent_session_id, opened.summary.cwd) == (held.session_id, str(elsewhere))
    assert [stored.item for stored in opened.items] == [stored.item for stored in held.items]
    await opened.files.close()
    await held.files.close()
