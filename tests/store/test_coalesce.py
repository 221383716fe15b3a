"""Fewer lines, the same text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.events import EventRecord, Notice, ReasoningDelta, TextDelta, ToolProgress
from grokmini.store.coalesce import LINE_LIMIT, coalesce
from tests.store.ground import delta, record


def test_pieces_that_follow_one_another_become_one_event() -> None:
    joined = list(coalesce([delta(1, "a"), delta(2, "b"), delta(3, "c")]))
    assert joined == [EventRecord(3, 1_001.0, "s", TextDelta("abc"), "p")]


def test_other_kinds_prompts_and_calls_are_kept_apart() -> None:
    records = [
        delta(1, "a"),
        record(2, ReasoningDelta("b")),
        delta(3, "c"),
        delta(4, "d", trace="other"),
        record(5, ToolProgress("1", "e")),
        record(6, ToolProgress("2", "f")),
        record(7, Notice("info", "g")),
        record(8, Notice("info", "h")),
    ]
    assert list(coalesce(records)) == records


def test_output_of_one_call_is_joined() -> None:
    joined = list(coalesce([record(1, ToolProgress("1", "a")), record(2, ToolProgress("1", "b"))]))
    assert [entry.event for entry in joined] == [ToolProgress("1", "ab")]


def test_no_line_grows_without_bound() -> None:
    joined = list(coalesce(delta(number, "x" * 1_000) for number in range(200)))
    sizes = [len(entry.event.text) for entry in joined if isinstance(entry.event, TextDelta)]
    assert sum(sizes) == 200_000
    assert max(sizes) < LINE_LIMIT + 1_000


PIECES = st.lists(
    st.one_of(
        st.text(max_size=3).map(TextDelta),
        st.text(max_size=3).map(ReasoningDelta),
        st.text(max_size=3).map(lambda text: ToolProgress("1", text)),
        st.just(Notice("info", "n")),
    ),
    max_size=20,
)


@settings(max_examples=60)
@given(PIECES, st.integers(0, 20))
def test_joining_loses_nothing_and_joining_in_two_parts_says_the_same(
    events: list[TextDelta | ReasoningDelta | ToolProgress | Notice], cut: int
) -> None:
    records = [record(number, event) for number, event in enumerate(events, 1)]
    whole = list(coalesce(records))
    again = list(coalesce([*coalesce(records[:cut]), *coalesce(records[cut:])]))
    assert [(entry.seq, entry.event) for entry in again] == [(entry.seq, entry.event) for entry in whole]
    assert [entry.seq for entry in whole] == sorted({entry.seq for entry in whole})
    assert (whole[-1].seq if whole else 0) == len(records)
    for before, after in pairwise(whole):
        assert type(before.event) is not type(after.event) or isinstance(before.event, Notice)
