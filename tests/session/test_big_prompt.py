"""Prompts too big for the conversation."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.session.big_prompt import PROMPT_LIMIT, note_for, shorten


def test_a_prompt_that_fits_is_left_alone() -> None:
    assert shorten("hello") == ("hello", None)


@settings(max_examples=30)
@given(st.text(min_size=1, max_size=40), st.text(min_size=1, max_size=40))
def test_the_first_words_and_the_closing_question_survive(head: str, tail: str) -> None:
    prompt = head + "x" * 40_000 + tail
    short = shorten(prompt)
    assert short.text.startswith(head)
    assert short.text.endswith(tail)
    assert len(short.text.encode()) <= PROMPT_LIMIT + 100
    assert short.whole == prompt


def test_attached_context_gets_what_the_prompt_leaves() -> None:
    short = shorten("p" * 30_000, "c" * 30_000)
    assert short.text.count("p") > 19_000
    assert 4_000 < short.text.count("c") < 5_100


def test_the_note_is_honest_when_the_whole_could_not_be_kept() -> None:
    assert "/s/prompt-1.txt" in note_for("/s/prompt-1.txt", "read_file")
    assert "not available" in note_for(None, "read_file")
