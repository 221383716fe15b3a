"""A copy of a session to go on with: of one in use, of a damaged one, where the disk refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol.codec import encode_event
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import TurnStarted
from grokmini.protocol.ids import is_session_id
from grokmini.store.fork import FORK_MARK, fork_session
from grokmini.store.layout import (
    COMPACTION,
    HISTORY,
    PROMPTS,
    SUMMARY,
    TOOL_OUTPUT,
    UPDATES,
)
from grokmini.store.manage import delete, pin, rename
from grokmini.store.sessions import SessionStore
from grokmini.store.updates import read_updates
from tests.fakes.disk import files_limited_to
from tests.store.accepted import go_on, refusal_of
from tests.store.ground import (
    CWD,
    child,
    contents,
    delta,
    exchange,
    line_from,
    new,
    record,
    tell,
    told_session,
    turn_events,
)

LONG = Path("/home/someone", *["a folder with a long name"] * 12)


def all_ids(root: Path) -> list[str]:
    """The names of all session directories there are, listed or not."""
    return sorted(path.name for group in (root / "sessions").iterdir() for path in group.iterdir())


async def test_a_session_that_another_process_writes_without_end_is_copied_and_goes_on(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    with child("write", str(tmp_path)) as writer:
        session_id = line_from(writer)
        made = []
        for _ in range(6):
            said = int(line_from(writer))
            made.append((said, fork_session(store, session_id)))
    for said, info in made:
        again = store.open(info.session_id)
        expected = [s.item for number in range(len(again.items) // 4 + 1) for s in exchange(number)]
        assert [stored.item for stored in again.items] == expected[: len(again.items)]
        assert len(again.items) > 4 * said, "what was acknowledged before the copy is in it"
        assert again.notices == ()
        numbers = [event.seq for event in read_updates(info.directory)]
        assert numbers == sorted(numbers)
        assert again.last_seq == max(numbers, default=0)
        assert not refusal_of(await go_on(again))


async def test_a_copy_and_its_source_go_different_ways(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 2)
    store = SessionStore(tmp_path)
    made = fork_session(store, source.session_id)
    was = contents(source.directory)
    one = store.open(made.session_id)
    tell(one, 2, ask="only in the copy")
    await one.files.close()
    assert contents(source.directory) == was
    delete(source.directory)
    again = store.open(made.session_id)
    assert (len(again.items), again.last_seq) == (12, 12)
    await again.files.close()


async def test_a_copy_has_an_id_a_title_and_an_age_of_its_own(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 2)
    rename(source.directory, "t" * 80)
    pin(source.directory, True)
    made = fork_session(SessionStore(tmp_path), source.session_id, now=lambda: 2_000_000_000.0)
    summary = made.summary
    assert is_session_id(made.session_id)
    assert made.session_id > source.session_id
    assert made.directory.name == summary.session_id == made.session_id
    assert summary.title == "t" * (80 - len(FORK_MARK)) + FORK_MARK
    assert summary.title_source == "generated", "it is not the person's word for this one"
    assert not summary.pinned
    assert summary.created_at == summary.updated_at == summary.forked_at == 2_000_000_000.0
    assert (summary.last_prompt, summary.messages, summary.tokens) == ("prompt 1", 8, 20)
    cut = fork_session(SessionStore(tmp_path), source.session_id, before_prompt=1).summary
    assert (cut.last_prompt, cut.messages, cut.tokens) == ("prompt 0", 4, 0)


async def test_what_has_no_title_gets_none(tmp_path: Path) -> None:
    session = new(tmp_path)
    session.files.append(exchange(0)[0])
    await session.files.close()
    assert fork_session(SessionStore(tmp_path), session.session_id).summary.title == ""


async def test_a_copy_for_a_folder_with_a_long_name_is_found_there(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 1)
    source_again = SessionStore(tmp_path).open(source.session_id)
    source_again.files.directory_changed("/where/it/went")
    await source_again.files.close()
    same = fork_session(SessionStore(tmp_path), source.session_id)
    assert (same.summary.cwd, same.summary.current_cwd) == (str(CWD), "/where/it/went")
    made = fork_session(SessionStore(tmp_path), source.session_id, cwd=LONG)
    assert made.summary.working_directory == LONG
    assert [info.session_id for info in SessionStore(tmp_path).list(9, LONG)] == [made.session_id]


async def test_damaged_lines_are_copied_as_they_are_and_left_out_of_a_cut(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 3)
    for name in (HISTORY, UPDATES):
        path = source.directory / name
        lines = path.read_bytes().split(b"\n")
        lines[2] = b'{"half of a line\xff'
        path.write_bytes(b"\n".join(lines) + b'{"torn')
    was = contents(source.directory)
    store = SessionStore(tmp_path)
    whole = fork_session(store, source.session_id)
    cut = fork_session(store, source.session_id, before_prompt=2)
    assert contents(source.directory) == was
    for info, turns in ((whole, 3), (cut, 2)):
        found = contents(info.directory)
        assert found[UPDATES] == b"".join(was[UPDATES].splitlines(keepends=True)[: 4 * turns])
        again = store.open(info.session_id)
        everything = [s.item for number in range(turns) for s in exchange(number)]
        assert [stored.item for stored in again.items] == everything[:2] + everything[3:]
        assert len(again.notices) == (1 if info is whole else 0)
        assert not refusal_of(await go_on(again))


async def test_a_prompt_that_was_asked_again_after_a_rewind_is_cut_at_the_last_time(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 3)
    events = turn_events(1, first=100, ask="asked again")
    with (source.directory / UPDATES).open("ab") as file:
        file.write(b"".join(encode_event(event) + b"\n" for event in events))
    made = fork_session(SessionStore(tmp_path), source.session_id, before_prompt=1)
    assert [e.event.text for e in read_updates(made.directory) if isinstance(e.event, TurnStarted)] == [
        "prompt 0",
        "prompt 1",
        "prompt 2",
    ], "the log tells all that happened before"
    assert made.summary.turns == 1


async def test_a_turn_that_left_no_event_is_cut_out_of_the_history_alone(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 2)
    (source.directory / UPDATES).write_bytes(encode_event(delta(1, "all there is")) + b"\n")
    made = fork_session(SessionStore(tmp_path), source.session_id, before_prompt=1)
    assert list(read_updates(made.directory)) == [delta(1, "all there is")]
    (source.directory / UPDATES).unlink()
    made = fork_session(SessionStore(tmp_path), source.session_id, before_prompt=0)
    assert list(read_updates(made.directory)) == []
    assert SessionStore(tmp_path).open(made.session_id).items == ()


async def test_long_files_are_copied_to_their_last_whole_line(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 1)
    path = source.directory / UPDATES
    lines = [encode_event(record(9 + n, turn_events(0)[0].event)) + b" " * 70_000 + b"\n" for n in range(40)]
    path.write_bytes(b"".join(lines) + b"{" * 300_000)
    made = fork_session(SessionStore(tmp_path), source.session_id)
    assert (made.directory / UPDATES).read_bytes() == b"".join(lines)


async def test_spilled_output_stays_with_the_source_and_links_are_not_followed(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 1)
    for name in (TOOL_OUTPUT, PROMPTS, COMPACTION):
        (source.directory / name).mkdir()
        (source.directory / name / "file").write_bytes(b"x")
    (source.directory / COMPACTION / "link").symlink_to("/etc")
    (source.directory / "rewind_points.jsonl").write_bytes(b"{}\n")
    made = fork_session(SessionStore(tmp_path), source.session_id)
    assert set(contents(made.directory)) == {HISTORY, UPDATES, SUMMARY, f"{COMPACTION}/file"}


async def test_a_copy_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 1)
    with (source.directory / UPDATES).open("ab") as file:
        file.write(encode_event(delta(9, "long " * 5_000)) + b"\n")
    before = all_ids(tmp_path)
    with (
        files_limited_to(20_000),
        pytest.raises(SessionError, match="cannot be copied: File too large"),
    ):
        fork_session(SessionStore(tmp_path), source.session_id, cwd=LONG)
    (source.directory / HISTORY).unlink()
    (source.directory / HISTORY).mkdir()
    with pytest.raises(SessionError, match="cannot be copied: Is a directory"):
        fork_session(SessionStore(tmp_path), source.session_id, cwd=LONG)
    assert all_ids(tmp_path) == before
    assert [path.name for path in (tmp_path / "sessions").iterdir()] == [source.directory.parent.name]


async def test_without_a_summary_the_error_says_how_to_mend_the_source(tmp_path: Path) -> None:
    source = await told_session(tmp_path, 1)
    (source.directory / SUMMARY).unlink()
    with pytest.raises(SessionError, match="no summary") as caught:
        fork_session(SessionStore(tmp_path), source.session_id)
    assert caught.value.hint == f"Rebuild it: grokmini sessions repair {source.session_id}"
    with pytest.raises(SessionError, match="There is no session"):
        fork_session(SessionStore(tmp_path), "01890000-0000-7000-8000-000000000000")
