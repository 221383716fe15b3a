"""Cells of text: the quick counting and wcwidth agree, clusters count once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import iter_graphemes, wcwidth

from grokmini.text import width as width_module
from grokmini.text.width import cell_width, cut_to_width, graphemes


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("abc", 3),
        ("日本語", 6),
        ("e\u0301", 1),
        ("⚠\ufe0f", 2),
        ("👨\u200d👩\u200d👧", 2),
        ("🇩🇪", 2),
        ("한국어", 6),
        ("…—“x”", 5),
        ("\x07", 0),
    ],
)
def test_a_text_takes_as_many_cells_as_a_terminal_gives_it(text: str, cells: int) -> None:
    assert cell_width(text) == cells


def test_the_quick_counting_says_what_wcwidth_says_for_every_character_it_covers() -> None:
    simple = re.compile(width_module._SIMPLE.pattern.removesuffix("*"))
    wide = width_module._WIDE_ONE
    covered = [chr(code) for code in range(0x20, 0x10000) if simple.fullmatch(chr(code))]
    assert len(covered) > 35_000
    wrong = [c for c in covered if wcwidth(c) != (2 if wide.fullmatch(c) else 1)]
    assert wrong == []


def test_characters_of_the_quick_counting_are_clusters_by_themselves() -> None:
    text = "aé日本한…–→│Жλ" * 3
    assert list(graphemes(text)) == list(iter_graphemes(text)) == list(text)


@settings(max_examples=50)
@given(st.text())
def test_the_width_of_a_text_is_the_sum_of_its_clusters(text: str) -> None:
    assert "".join(graphemes(text)) == text
    assert cell_width(text) == sum(cell_width(cluster) for cluster in graphemes(text))


@settings(max_examples=50)
@given(st.text(), st.integers(0, 12))
def test_a_cut_text_is_never_wider_than_asked(text: str, cells: int) -> None:
    assert cell_width(cut_to_width(text, cells)) <= cells


def test_a_text_that_fits_is_not_cut_and_one_that_does_not_says_so() -> None:
    assert cut_to_width("abc", 3) == "abc"
    assert cut_to_width("abcd", 3) == "ab…"
    assert cut_to_width("日本語", 4) == "日…"
    assert cut_to_width("abcd", 2, "...") == "ab"
