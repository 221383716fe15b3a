"""Estimates of tokens from text alone."""

from __future__ import annotations

import pytest

from grokmini.text.tokens import (
    estimate_bytes,
    estimate_carefully,
    estimate_tokens,
    is_reached,
    percent_of,
    remaining,
    utf8_length,
)


@pytest.mark.parametrize(("count", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_bytes_are_divided_by_four_and_rounded_up(count: int, tokens: int) -> None:
    assert estimate_bytes(count) == tokens
    assert estimate_tokens("x" * count) == tokens


def test_bytes_count_not_characters() -> None:
    assert estimate_tokens("é" * 4) == 2
    assert estimate_tokens("漢" * 4) == 3


def test_text_mostly_outside_ascii_counts_a_token_a_character() -> None:
    assert estimate_carefully("漢字かな交じり文") == 8
    assert estimate_carefully("plain text here!") == 4
    assert estimate_carefully("mostly plain text with one é in it") == estimate_tokens(
        "mostly plain text with one é in it"
    )


def test_a_share_of_thirty_percent_is_high() -> None:
    assert estimate_carefully("漢漢漢aaaaaaa") == 10
    assert estimate_carefully("漢漢aaaaaaaa") == estimate_tokens("漢漢aaaaaaaa") == 4


def test_emoji_never_count_less_than_their_bytes() -> None:
    assert estimate_carefully("🙂" * 3) == 3


def test_a_lone_surrogate_counts_and_does_not_fail() -> None:
    assert utf8_length("\ud83d") == 3
    assert estimate_carefully("\ud83d") == 1


def test_a_threshold_is_reached_by_being_equal_to_it() -> None:
    assert not is_reached(849, 1_000, 85)
    assert is_reached(850, 1_000, 85)


def test_shares_and_what_is_left_of_a_window() -> None:
    assert percent_of(250, 1_000) == 25.0
    assert percent_of(2_000, 1_000) == 200.0
    assert (percent_of(1, 0), percent_of(0, 0)) == (100.0, 0.0)
    assert remaining(100, 30) == 70
    assert remaining(100, 130) == 0
