"""Reading what another process is writing: in order, each event once, whatever the moment of a look."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.codec import encode_event
from grokmini.protocol.events import EventRecord, TextDelta
from grokmini.store.follow import UpdatesTail
from grokmini.store.layout import HISTORY, UPDATES
from grokmini.store.sessions import SessionStore
from grokmini.store.updates import read_updates
from tests.store.ground import child, delta, line_from, tell, told_session, turn_events


def lines_of(events: list[EventRecord]) -> bytes:
    """The events as a file holds them."""
    return b"".join(encode_event(event) + b"\n" for event in events)


def all_of(tail: UpdatesTail) -> list[EventRecord]:
    """Everything up to now, in as many steps as it takes."""
    found = tail.read()
    while tail.behind:
        found += tail.read()
    return found


def test_a_writer_and_a_reader_lose_and_double_nothing(tmp_path: Path, full: bool) -> None:
    """The reader looks without pause, in small steps, while another process writes and is killed in the end."""
    with child("write", str(tmp_path)) as writer:
        directory = SessionStore(tmp_path).directory_of(line_from(writer))
        line_from(writer)
        tail = UpdatesTail(directory, limit=600)
        found: list[EventRecord] = []
        looks = 0
        while tail.last_seq < (20_000 if full else 1_000):
            assert writer.poll() is None
            found += tail.read()
            looks += 1
    found += all_of(tail)
    assert looks > 20
    assert found == list(read_updates(directory))
    text = "".join(record.event.text for record in found if isinstance(record.event, TextDelta))
    assert text == "".join(f"piece {number} " for number in range(1, tail.last_seq + 1))


async def test_who_takes_over_goes_on_where_the_reader_is(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 2)
    tail = UpdatesTail(session.directory)
    assert len(all_of(tail)) == 8
    again = SessionStore(tmp_path).open(session.session_id)
    assert again.last_seq == tail.last_seq
    tell(again, 2)
    await again.files.close()
    assert all_of(tail) == turn_events(2)
    assert tail.last_seq == 12


@settings(max_examples=40)
@given(
    texts=st.lists(st.text(max_size=30) | st.just("long " * 100), max_size=10),
    moments=st.lists(st.integers(0, 400), max_size=12),
    limit=st.integers(1, 300),
)
def test_looks_at_any_moments_with_any_limit_give_what_is_there(
    texts: list[str], moments: list[int], limit: int
) -> None:
    events = [delta(number, text) for number, text in enumerate(texts, 1)]
    data = lines_of(events)
    with tempfile.TemporaryDirectory() as folder:
        tail = UpdatesTail(Path(folder), limit=limit)
        found = tail.read()
        with Path(folder, UPDATES).open("wb", buffering=0) as file:
            for moment in moments:
                file.write(data[:moment])
                data = data[moment:]
                found += tail.read()
            file.write(data)
            found += all_of(tail)
    assert found == events


def test_a_torn_last_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    data = lines_of([delta(1, "whole"), delta(2, "tö☃rn")])
    path = tmp_path / UPDATES
    whole = data.index(b"\n") + 1
    for cut in range(whole, len(data)):
        path.write_bytes(data[:cut])
        tail = UpdatesTail(tmp_path)
        assert tail.read() == [delta(1, "whole")], cut
        assert tail.read() == []
        assert not tail.behind
        with path.open("ab") as file:
            file.write(data[cut:])
        assert tail.read() == [delta(2, "tö☃rn")], cut


def test_a_torn_line_that_was_sealed_is_passed_over_and_others_too(tmp_path: Path) -> None:
    newer = b'{"v":1,"seq":9,"time":1,"session_id":"s","type":"newer"}\n'
    path = tmp_path / UPDATES
    path.write_bytes(lines_of([delta(1, "a")]) + b'{"v":1,"se')
    tail = UpdatesTail(tmp_path)
    assert tail.read() == [delta(1, "a")]
    with path.open("ab") as file:
        file.write(b"\n\n\xff\xfe\n" + newer + lines_of([delta(10, "b")]))
    assert tail.read() == [delta(10, "b")]


def test_a_number_with_a_wrong_bit_hides_nothing_that_follows(tmp_path: Path) -> None:
    events = [delta(number, "x") for number in (1, 2 + (1 << 40), 3, 4)]
    path = tmp_path / UPDATES
    path.write_bytes(lines_of(events[:3]))
    tail = UpdatesTail(tmp_path)
    found = all_of(tail)
    path.write_bytes(path.read_bytes() + lines_of(events[3:]))
    assert [*found, *all_of(tail)] == events


def test_who_was_away_drops_what_he_has(tmp_path: Path) -> None:
    (tmp_path / UPDATES).write_bytes(lines_of([delta(number, "x") for number in (1, 2, 2, 5, 4, 7)]))
    assert [record.seq for record in UpdatesTail(tmp_path, after_seq=2).read()] == [5, 4, 7]
    assert UpdatesTail(tmp_path, after_seq=7).read() == []


def test_a_reader_may_begin_in_the_midst_or_at_the_last_turns(tmp_path: Path) -> None:
    turns = [turn_events(number) for number in range(3)]
    (tmp_path / UPDATES).write_bytes(lines_of([event for turn in turns for event in turn]))
    assert UpdatesTail(tmp_path, turns=2).read() == [*turns[1], *turns[2]]
    assert UpdatesTail(tmp_path, turns=0).read() == []
    assert UpdatesTail(tmp_path, turns=9).read() == [*turns[0], *turns[1], *turns[2]]
    offset = len(lines_of(turns[0]))
    tail = UpdatesTail(tmp_path, offset=offset, after_seq=4)
    assert tail.read() == [*turns[1], *turns[2]]
    assert tail.offset == (tmp_path / UPDATES).stat().st_size


def test_a_file_that_was_replaced_is_read_anew_without_what_was_given_out(tmp_path: Path) -> None:
    path = tmp_path / UPDATES
    old = [delta(number, "old " * 20) for number in (1, 2, 3)]
    path.write_bytes(lines_of(old))
    tail = UpdatesTail(tmp_path)
    assert tail.read() == old
    other = tmp_path / "other"
    other.write_bytes(lines_of([delta(3, "old"), *(delta(number, "new " * 50) for number in (4, 5, 6))]))
    other.replace(path)
    assert tail.changed()
    assert [record.seq for record in tail.read()] == [4, 5, 6]
    path.write_bytes(lines_of([delta(9, "short")]))
    assert tail.changed(), "the same file, but shorter"
    assert [record.seq for record in tail.read()] == [9]


def test_an_offset_beyond_the_end_is_of_another_file(tmp_path: Path) -> None:
    (tmp_path / UPDATES).write_bytes(lines_of([delta(5, "x")]))
    assert UpdatesTail(tmp_path, offset=10_000).read() == [delta(5, "x")]


def test_a_file_that_went_holds_nothing_and_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / UPDATES
    tail = UpdatesTail(tmp_path)
    assert (tail.read(), tail.changed(), tail.behind) == ([], False, False)
    path.write_bytes(lines_of([delta(1, "a")]))
    assert tail.changed()
    assert tail.read() == [delta(1, "a")]
    path.unlink()
    assert (tail.read(), tail.changed()) == ([], False)
    path.write_bytes(lines_of([delta(2, "another, which may get the number of the first as a file")]))
    assert [record.seq for record in tail.read()] == [2]


def test_a_reader_who_is_behind_when_the_file_goes_is_behind_no_more(tmp_path: Path) -> None:
    (tmp_path / UPDATES).write_bytes(lines_of([delta(number, "x" * 50) for number in (1, 2, 3)]))
    tail = UpdatesTail(tmp_path, limit=150)
    assert len(tail.read()) == 1
    assert tail.behind
    (tmp_path / UPDATES).unlink()
    assert (tail.read(), tail.behind) == ([], False)


async def test_a_reader_writes_nothing_and_takes_nothing(tmp_path: Path) -> None:
    session = await told_session(tmp_path, 1)
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in session.directory.iterdir()}
    os.chmod(session.directory / HISTORY, 0)
    all_of(UpdatesTail(session.directory))
    after = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in session.directory.iterdir()}
    assert after == before
