"""What is searched for of events, however they come in."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from grokmini.store.said import Piece, Said
from tests.store.ground import delta, turn_events

RECORDS = [
    *turn_events(0, ask="where is it", answer="in the "),
    *(delta(5 + number, text) for number, text in enumerate(("need", "lework ", "of ", "many"))),
    *turn_events(3, ask="and now", answer="it goes"),
    delta(20, " on and o"),
]


@given(st.lists(st.integers(0, len(RECORDS)), max_size=4))
def test_events_in_any_batches_give_the_same_pieces(cuts: list[int]) -> None:
    said = Said(0)
    pieces: list[Piece] = []
    places = [0, *sorted(cuts), len(RECORDS)]
    for start, end in pairwise(places):
        pieces += said.take(RECORDS[start:end])
    pieces += said.unfinished()
    assert [(piece.kind, piece.prompt, piece.text) for piece in pieces] == [
        ("prompt", 0, "where is it"),
        ("tool", 0, "grep"),
        ("reply", 0, "in the "),
        ("reply", 0, "needlework of many"),
        ("prompt", 3, "and now"),
        ("tool", 3, "grep"),
        ("reply", 3, "it goes"),
        ("reply", 3, " on and o"),
    ]
