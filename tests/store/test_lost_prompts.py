"""Prompts that damage took from the history come back from the record of events, in their places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grokmini.protocol.events import TurnStarted
from grokmini.protocol.items import AssistantItem, Stored, SyntheticReason, UserItem, user_text
from grokmini.store.fork import fork_session
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES
from grokmini.store.lost_prompts import TEXT_LIMIT
from grokmini.store.repair import Repaired, repair_session
from grokmini.store.sessions import OpenSession, SessionStore
from grokmini.store.updates import read_updates
from tests.store.accepted import go_on, refusal_of
from tests.store.ground import exchange, new, record, tell, told_session

TURN = 4
"""Lines of a turn in the history."""


def damage(session: OpenSession, change: Callable[[list[bytes]], list[bytes]]) -> None:
    """Change the lines of a session's history."""
    path = session.directory / HISTORY
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def reopened(root: Path, session: OpenSession) -> OpenSession:
    """The session, open again."""
    return SessionStore(root).open(session.session_id)


def asked(items: tuple[Stored, ...]) -> list[int | None]:
    """The numbers of the real prompts, in order."""
    prompts = [stored.item for stored in items if isinstance(stored.item, UserItem)]
    return [item.prompt_index for item in prompts if item.is_real_prompt]


def lose(*numbers: int) -> Callable[[list[bytes]], list[bytes]]:
    """Damage these lines, so that they cannot be read."""
    return lambda lines: [b"{" + line if number in numbers else line for number, line in enumerate(lines)]


@pytest.mark.parametrize("turn", range(3))
async def test_a_prompt_whose_line_is_damaged_is_where_it_was(tmp_path: Path, turn: int) -> None:
    session = await told_session(tmp_path, 3)
    damage(session, lose(TURN * turn))
    again = reopened(tmp_path, session)
    assert [stored.item for stored in again.items] == [s.item for number in range(3) for s in exchange(number)]
    (notice,) = again.notices
    assert notice.text.startswith("1 line of chat_history.jsonl could not be read")
    assert "1 prompt that chat_history.jsonl lacked came back" in notice.text
    assert not refusal_of(await go_on(again))
    third = reopened(tmp_path, session)
    assert (third.items[: len(again.items)], third.notices) == (again.items, ())
    await third.files.close()


async def test_turns_that_are_gone_come_back_with_what_was_asked_and_answered(tmp_path: Path) -> None:
    """Cut between two lines nothing looks damaged; the summary knows that there was more."""
    session = await told_session(tmp_path, 4)
    damage(session, lambda lines: lines[: 2 * TURN])
    again = reopened(tmp_path, session)
    back = [
        item
        for number in (2, 3)
        for item in (
            user_text(f"prompt {number}", prompt_index=number),
            AssistantItem(f"answer {number} ☃"),
        )
    ]
    assert [stored.item for stored in again.items[2 * TURN :]] == back
    assert [notice.code for notice in again.notices] == ["prompts_restored"]
    assert not refusal_of(await go_on(again))


@pytest.mark.parametrize(
    "take", [Path.unlink, lambda path: path.write_bytes(b""), lambda path: path.write_bytes(bytes(500))]
)
async def test_a_history_of_which_nothing_is_left_is_no_blank_conversation(
    tmp_path: Path, take: Callable[[Path], object]
) -> None:
    session = await told_session(tmp_path, 3)
    take(session.directory / HISTORY)
    again = reopened(tmp_path, session)
    assert asked(again.items) == [0, 1, 2]
    assert len(again.notices) == 1
    assert not refusal_of(await go_on(again))


async def test_one_bad_line_may_have_been_several_prompts(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 4)
    damage(session, lambda lines: [*lines[:TURN], b"\x00" * 300 + b"\n", *lines[3 * TURN + 1 :]])
    again = reopened(tmp_path, session)
    assert asked(again.items) == [0, 1, 2, 3]
    assert [stored.item for stored in again.items[-3:]] == [stored.item for stored in exchange(3)[1:]]
    assert not refusal_of(await go_on(again))


async def test_bad_lines_that_were_no_prompts_bring_nothing_back(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 3)
    damage(session, lose(1, TURN + 2, 3 * TURN - 1))
    again = reopened(tmp_path, session)
    assert len(again.items) == 3 * TURN - 3
    assert "came back" not in again.notices[0].text
    await again.files.close()


async def test_of_a_prompt_that_was_asked_again_after_a_rewind_the_last_words_count(tmp_path: Path) -> None:
    session = new(tmp_path)
    for number in range(3):
        tell(session, number)
    for seq, (number, text) in enumerate([(1, "another prompt 1"), (2, "another prompt 2")], 100):
        session.files.record(record(seq, TurnStarted(f"q{number}", number, text), trace=f"q{number}"))
    await session.files.close()
    damage(session, lose(TURN, 2 * TURN))
    again = reopened(tmp_path, session)
    texts = [stored.item.text for stored in again.items if isinstance(stored.item, UserItem)]
    assert texts == ["prompt 0", "another prompt 1", "another prompt 2"]
    await again.files.close()


async def test_prompts_that_were_summed_up_do_not_come_back(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 4)
    again = reopened(tmp_path, session)
    summary = Stored(user_text("what was", reason=SyntheticReason.COMPACTION_SUMMARY))
    again.files.replace([summary, *exchange(2), *exchange(3)])
    await again.files.close()
    damage(session, lose(TURN + 1))
    third = reopened(tmp_path, session)
    assert asked(third.items) == [2, 3]
    await third.files.close()


@pytest.mark.parametrize("kept", [(), (0, 3)], ids=["none", "the first and the last"])
async def test_a_summary_may_keep_any_of_the_prompts(tmp_path: Path, kept: tuple[int, ...]) -> None:
    session = await told_session(tmp_path, 4)
    again = reopened(tmp_path, session)
    summary = Stored(user_text("what was", reason=SyntheticReason.COMPACTION_SUMMARY))
    again.files.replace([*(exchange(number)[0] for number in kept), summary, *exchange(9)[1:]])
    await again.files.close()
    damage(session, lambda lines: [*lines, b"{half"])
    third = reopened(tmp_path, session)
    assert asked(third.items) == list(kept)
    await third.files.close()


async def test_a_huge_prompt_comes_back_shortened(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1, ask="begin " + "x" * 3 * TEXT_LIMIT + " end")
    (session.directory / HISTORY).unlink()
    again = reopened(tmp_path, session)
    (first, *_) = [stored.item for stored in again.items if isinstance(stored.item, UserItem)]
    assert len(first.text) < TEXT_LIMIT + 100
    assert first.text.startswith("begin x")
    assert "characters left out here" in first.text
    assert first.text.endswith("x end")
    await again.files.close()


async def test_without_a_record_that_can_be_read_the_session_opens_with_what_there_is(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 3)
    damage(session, lose(0))
    (session.directory / UPDATES).unlink()
    (session.directory / UPDATES).mkdir()
    again = reopened(tmp_path, session)
    assert asked(again.items) == [1, 2]
    await again.files.close()


async def test_a_damaged_summary_hides_no_loss(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 3)
    damage(session, lambda lines: lines[:TURN])
    (session.directory / SUMMARY).write_bytes(b"{")
    again = reopened(tmp_path, session)
    assert asked(again.items) == [0, 1, 2]
    await again.files.close()


async def test_opening_alone_leaves_the_damaged_file_as_it_is_until_something_is_written(
    tmp_path: Path,
) -> None:
    session = await told_session(tmp_path, 2)
    damage(session, lose(0))
    before = (session.directory / HISTORY).read_bytes()
    again = reopened(tmp_path, session)
    assert (session.directory / HISTORY).read_bytes() == before
    await again.files.close()


async def test_repair_and_fork_give_them_back_too(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 3)
    damage(session, lose(TURN))
    store = SessionStore(tmp_path)
    copy = store.open(fork_session(store, session.session_id, before_prompt=2).session_id)
    assert [stored.item for stored in copy.items] == [s.item for number in range(2) for s in exchange(number)]
    await copy.files.close()
    assert repair_session(session.directory) == Repaired(False, 1, 1)
    assert repair_session(session.directory) == Repaired(False, 0, 0)
    again = reopened(tmp_path, session)
    assert (asked(again.items), again.notices) == ([0, 1, 2], ())
    await again.files.close()


async def test_a_sound_history_is_taken_as_it_is(tmp_path: Path) -> None:
    """What is in the record alone was taken back by a rewind, say."""
    session = await told_session(tmp_path, 3)
    again = reopened(tmp_path, session)
    again.files.replace([*exchange(0)])
    again.files.prompt_started("prompt 0", 0)
    await again.files.close()
    third = reopened(tmp_path, session)
    assert (asked(third.items), third.notices) == ([0], ())
    assert len(list(read_updates(third.directory))) == 12
    await third.files.close()
