"""The last turns, found from the end: the same as reading everything, by whatever blocks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.codec import encode_event
from grokmini.protocol.events import EventRecord, Notice, TextDelta, TurnEnded, TurnStarted
from grokmini.protocol.model import Usage
from grokmini.store.layout import UPDATES
from grokmini.store.updates import TURN_STARTED, read_event, read_last_turns, start_of_last_turns
from tests.store.ground import record, turn_events

MARK = TURN_STARTED.decode()

words = st.sampled_from(["", MARK, f"x\n{MARK}\n", "ü☃" * 9, "long " * 60])
events = st.one_of(
    st.builds(TurnStarted, st.just("p"), st.integers(0, 9), words),
    st.builds(TextDelta, words),
    st.builds(Notice, st.just("info"), words),
    st.builds(TurnEnded, st.integers(0, 9), st.just("completed"), st.just(0), words, st.just(Usage())),
)
damaged = st.sampled_from([b"", b"{torn", b"\xff\xfe" + TURN_STARTED, TURN_STARTED, b'{"v":1,' + TURN_STARTED])


def starts_of(data: bytes) -> list[int]:
    """Where turns begin, found by reading everything."""
    found, offset = [], 0
    for line in data.splitlines(keepends=True):
        read = read_event(line)
        if read is not None and isinstance(read.event, TurnStarted):
            found.append(offset)
        offset += len(line)
    return found


@settings(max_examples=150)
@given(
    lines=st.lists(events.map(lambda event: encode_event(record(1, event))) | damaged, max_size=14),
    torn=st.integers(0, 60),
    turns=st.integers(0, 6),
    block=st.integers(1, 500),
)
def test_blocks_of_any_size_give_the_same_as_reading_everything(
    lines: list[bytes], torn: int, turns: int, block: int
) -> None:
    data = b"".join(line + b"\n" for line in lines)
    data = data[: len(data) - torn]
    starts = starts_of(data)
    expected = len(data) if turns == 0 else (0 if turns > len(starts) else starts[-turns])
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        assert start_of_last_turns(Path(file.name), turns, block_size=block) == expected


@pytest.mark.parametrize("turns", [1, 2, 3, 9])
def test_the_last_turns_are_given_whole(tmp_path: Path, turns: int) -> None:
    told: list[list[EventRecord]] = [
        turn_events(number, ask=MARK, answer="long " * 50_000) for number in range(3)
    ]
    lines = [encode_event(event) + b"\n" for turn in told for event in turn]
    (tmp_path / UPDATES).write_bytes(b"".join(lines) + b'{"torn' + TURN_STARTED)
    assert list(read_last_turns(tmp_path, turns)) == [event for turn in told[-turns:] for event in turn]


def test_a_session_that_kept_nothing_has_no_turns(tmp_path: Path) -> None:
    assert list(read_last_turns(tmp_path, 3)) == []
    (tmp_path / UPDATES).write_bytes(b"")
    assert list(read_last_turns(tmp_path, 3)) == []


def test_the_end_of_a_huge_file_costs_what_it_gives(tmp_path: Path) -> None:
    """The front of the file is a hole of 50 GB that nobody could read in the time of a test."""
    path = tmp_path / UPDATES
    turn = turn_events(0)
    with path.open("wb") as file:
        file.seek(50 << 30)
        file.write(b"\n" + b"".join(encode_event(event) + b"\n" for event in turn))
    assert list(read_last_turns(tmp_path, 1)) == turn
