"""A session cut between whole turns: by a fork, by the last turns that are shown, by a reader who comes late."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.codec import encode_event
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import TextDelta, TurnStarted
from grokmini.protocol.items import AssistantItem, ConversationItem, SyntheticReason, user_text
from grokmini.protocol.turns import TurnStart, cut_before, turn_starts
from grokmini.store.follow import UpdatesTail
from grokmini.store.fork import fork_session
from grokmini.store.layout import CARRIED_FILES, COMPACTION, DRIVER_LOCK, TOOL_OUTPUT, UPDATES
from grokmini.store.sessions import SessionStore
from grokmini.store.updates import read_last_turns, read_updates
from tests.store.accepted import go_on, refusal_of
from tests.store.ground import CWD, contents, exchange, record, told_session

TURNS = 4


def test_a_turn_begins_where_an_item_carries_its_number() -> None:
    items: list[ConversationItem] = [
        user_text("seen", reason=SyntheticReason.PROJECT_INSTRUCTIONS),
        user_text("one", prompt_index=0),
        AssistantItem("a"),
        user_text("and", reason=SyntheticReason.INTERJECTION),
        user_text("a task ended", reason=SyntheticReason.BACKGROUND_TASK_DONE, prompt_index=7),
        AssistantItem("b"),
    ]
    assert turn_starts(items) == [TurnStart(0, 1), TurnStart(7, 4)]
    assert [cut_before(items, index) for index in (0, 7)] == [1, 4]
    with pytest.raises(ValueError, match="there is 0 to 7"):
        cut_before(items, 1)
    with pytest.raises(ValueError, match="none"):
        cut_before([], 0)


@pytest.mark.parametrize("before", [None, 0, 1, TURNS - 1])
async def test_a_fork_holds_whole_turns_and_leaves_its_source_as_it_was(
    tmp_path: Path, before: int | None
) -> None:
    source = await told_session(tmp_path, TURNS)
    for name in CARRIED_FILES:
        (source.directory / name).write_text(name)
    (source.directory / COMPACTION / "deep").mkdir(parents=True)
    (source.directory / COMPACTION / "deep" / "segment_000.md").write_text("long ago")
    (source.directory / TOOL_OUTPUT).mkdir()
    was = contents(source.directory)

    made = fork_session(SessionStore(tmp_path), source.session_id, before_prompt=before, model="other")

    assert contents(source.directory) == was
    turns = TURNS if before is None else before
    again = SessionStore(tmp_path).open(made.session_id)
    assert [stored.item for stored in again.items] == [s.item for n in range(turns) for s in exchange(n)]
    assert list(read_updates(made.directory)) == list(read_updates(source.directory))[: 4 * turns]
    assert all((made.directory / name).read_text() == name for name in CARRIED_FILES)
    assert (made.directory / COMPACTION / "deep" / "segment_000.md").read_text() == "long ago"
    assert again.summary.parent_session_id == source.session_id
    assert again.summary.forked_at > 0
    assert (again.summary.model, again.summary.turns, again.summary.cwd) == ("other", turns, str(CWD))
    assert all(path.stat().st_mode & 0o077 == 0 for path in made.directory.rglob("*"))
    assert not refusal_of(await go_on(again))


async def test_a_fork_of_a_driven_session_works_elsewhere(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 1)
    driver = SessionStore(tmp_path).open(source.session_id)
    elsewhere = tmp_path / "elsewhere"
    made = fork_session(SessionStore(tmp_path), source.session_id, cwd=elsewhere)
    await driver.files.close()
    assert [info.session_id for info in SessionStore(tmp_path).list(5, elsewhere)] == [made.session_id]
    assert made.summary.working_directory == elsewhere
    assert not (made.directory / DRIVER_LOCK).exists()


async def test_a_fork_is_not_cut_where_no_turn_begins(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 2)
    with pytest.raises(SessionError, match="has no prompt 6 to be cut before; there is 1 to 2"):
        fork_session(SessionStore(tmp_path), source.session_id, before_prompt=5)
    assert [info.session_id for info in SessionStore(tmp_path).list(5)] == [source.session_id]


@pytest.mark.parametrize("turns", [0, 1, 3, TURNS, TURNS + 1])
async def test_the_last_turns_are_read_from_the_end(tmp_path: Path, turns: int) -> None:
    session = await told_session(tmp_path, TURNS, answer='"type":"turn_started" ' * 20_000)
    events = list(read_updates(session.directory))
    starts = [place for place, event in enumerate(events) if isinstance(event.event, TurnStarted)]
    first = len(events) if turns == 0 else starts[-min(turns, TURNS)]
    assert list(read_last_turns(session.directory, turns)) == events[first:]


def test_a_late_reader_gets_what_is_stored_then_what_follows_and_nothing_twice(tmp_path: Path) -> None:
    events = [record(number, TextDelta(f"piece {number}")) for number in range(1, 7)]
    lines = [encode_event(event) + b"\n" for event in events]
    path = tmp_path / UPDATES
    tail = UpdatesTail(tmp_path)
    assert tail.read() == []
    path.write_bytes(b"".join(lines[:3]))
    assert tail.read() == events[:3]
    assert not tail.changed()
    with path.open("ab") as file:
        file.write(lines[3] + lines[4][:9])
        file.flush()
        assert tail.changed()
        assert tail.read() == events[3:4], "half a line waits"
        file.write(lines[4][9:])
    assert tail.read() == events[4:5]
    path.unlink()
    path.write_bytes(b"".join(lines))
    assert tail.read() == events[5:], "a file that was replaced gives only what is new"
    assert UpdatesTail(tmp_path, after_seq=4).read() == events[4:], "who had a break goes on from its last one"
