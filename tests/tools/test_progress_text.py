"""Output as it is shown while a command runs: the pieces come as they like."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.tools.command_output import ProgressText

SAID = "größer → 漢字 🙂, \x1b[31mred\x1b[0m and \x1b]0;title\x07 plain\n"


@settings(max_examples=200)
@given(st.sets(st.integers(1, len(SAID.encode()) - 1)))
def test_a_character_or_sequence_that_comes_in_two_pieces_is_shown_whole(cuts: set[int]) -> None:
    data, text, shown = SAID.encode(), ProgressText(), ""
    places = sorted(cuts)
    for begin, end in zip((0, *places), (*places, len(data)), strict=True):
        text.feed(data[begin:end])
        shown += text.take()
    assert shown == "größer → 漢字 🙂, red and  plain\n"


def test_bytes_that_are_no_text_are_marked_and_hold_nothing_up() -> None:
    text = ProgressText()
    text.feed(b"a\xffb\xe2")
    assert text.take() == "a\ufffdb"
    text.feed(b"c\n")
    assert text.take() == "\ufffdc\n"


def test_what_follows_a_whole_sequence_is_shown_at_once() -> None:
    text = ProgressText()
    text.feed(b"\x1b[32mloading")
    assert text.take() == "loading"
    text.feed(b"\x1b]0;title\nnext")
    assert text.take().endswith("\nnext")
