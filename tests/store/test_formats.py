"""Session files as version 1 wrote them open for ever, also with lines of other versions among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.items import AssistantItem, SystemItem, UnknownItem
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES, make_group
from grokmini.store.sessions import SessionStore
from grokmini.store.updates import read_updates
from tests.chat.histories import MODEL
from tests.store.accepted import busy_turn, go_on, refusal_of
from tests.store.ground import CWD, contents, turn_events

GOLDEN = Path(__file__).parent.parent / "golden" / "store"
SESSION_ID = "01930c5e-0000-7000-8000-000000000000"
OTHERS = (
    b'{"type":"hologram","beam":[1, 2.0]}',
    b'{"type":"assistant"}',
    b'{"type":"assistant","text":"x","confidence":0.50}',
)
"""A kind of a newer version, the least that an item may be, a field of a newer version."""

LEAST = b'{"session_id":"%s","cwd":"%s"}' % (SESSION_ID.encode(), bytes(CWD))
NEWER = b'{"session_id":"%s","cwd":"%s","format_version":2,"mood":null}' % (SESSION_ID.encode(), bytes(CWD))


def planted(root: Path) -> Path:
    """The session of version 1 under a state directory."""
    directory = make_group(root, CWD) / SESSION_ID
    directory.mkdir()
    for name in (HISTORY, UPDATES, SUMMARY):
        (directory / name).write_bytes((GOLDEN / name.replace(".", "-1.")).read_bytes())
    return directory


async def test_files_of_version_1_are_read_whole_and_opening_changes_none_of_them(tmp_path: Path) -> None:
    directory = planted(tmp_path)
    before = contents(directory)
    session = SessionStore(tmp_path).open(SESSION_ID)
    assert [stored.item for stored in session.items] == [SystemItem("Be brief."), *busy_turn(0)]
    assert (session.notices, session.last_seq) == ((), 4)
    assert (session.summary.title, session.summary.models, session.summary.turns) == (
        "prompt 0",
        (MODEL.name,),
        1,
    )
    assert list(read_updates(directory)) == turn_events(0)
    await session.files.close()
    assert contents(directory) == before


@pytest.mark.parametrize("summary", [LEAST, NEWER], ids=["an older summary", "a newer summary"])
async def test_files_of_several_versions_are_one_session(tmp_path: Path, summary: bytes) -> None:
    directory = planted(tmp_path)
    (directory / SUMMARY).write_bytes(summary)
    with (directory / HISTORY).open("ab") as file:
        file.writelines(line + b"\n" for line in OTHERS)
    before = contents(directory)
    session = SessionStore(tmp_path).open(SESSION_ID)
    found = [stored.item for stored in session.items[-3:]]
    assert found == [UnknownItem("hologram"), AssistantItem(), AssistantItem("x")]
    assert session.notices == ()
    assert not refusal_of(await go_on(session))
    after = contents(directory)
    assert after[HISTORY].startswith(before[HISTORY]), "what others wrote stays as they wrote it"
    assert after[SUMMARY] == summary
