"""Wrapping: no line too wide, nothing lost but blanks, nothing inserted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.width import cell_width, graphemes
from grokmini.text.wrap import wrap_ranges, wrap_text

TEXTS = st.text(alphabet=st.sampled_from("ab -/日本、。é👍\u200d\ufe0f\u0301\n"), max_size=60)


@settings(max_examples=80)
@given(TEXTS, st.integers(1, 20))
def test_no_line_is_wider_than_the_width_except_one_wide_character(text: str, width: int) -> None:
    for line in wrap_text(text, width):
        assert cell_width(line) <= width or len(list(graphemes(line))) == 1


@settings(max_examples=80)
@given(TEXTS, st.integers(1, 20))
def test_only_blanks_and_newlines_are_left_out(text: str, width: int) -> None:
    kept = "".join(wrap_text(text, width))
    assert kept.replace(" ", "") == text.replace(" ", "").replace("\n", "")


@settings(max_examples=50)
@given(TEXTS, st.integers(1, 20))
def test_lines_are_slices_in_order(text: str, width: int) -> None:
    ends = [0, *(place for pair in wrap_ranges(text, width) for place in pair)]
    assert ends == sorted(ends)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("one two three", 8, ["one two", "three"]),
        ("a  b", 10, ["a  b"]),
        ("  lead ends", 8, ["  lead", "ends"]),
        ("x https://example.com/long/path y", 12, ["x", "https://exam", "ple.com/long", "/path y"]),
        ("日本語、漢字", 8, ["日本語、", "漢字"]),
        ("ab\n\ncd", 10, ["ab", "", "cd"]),
        ("word     ", 4, ["word"]),
    ],
)
def test_lines_break_where_a_reader_expects_it(text: str, width: int, lines: list[str]) -> None:
    assert wrap_text(text, width) == lines


def test_wide_punctuation_does_not_begin_a_line() -> None:
    assert wrap_text("日本語。漢", 6) == ["日本", "語。漢"]
