"""Wildcard matching against the plain definition."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.wildcards import matches_whole


@settings(max_examples=200)
@given(st.text("ab*", max_size=7), st.text("ab", max_size=9))
def test_it_agrees_with_a_regular_expression(pattern: str, subject: str) -> None:
    expected = re.fullmatch(pattern.replace("*", ".*"), subject) is not None
    found = matches_whole(pattern, subject, lambda part: part == "*", lambda part, char: part == char)
    assert found == expected


def test_many_stars_cost_no_more_than_pattern_times_subject() -> None:
    steps = 0

    def equal(part: str, char: str) -> bool:
        nonlocal steps
        steps += 1
        return part == char

    assert not matches_whole("*a" * 50 + "b", "a" * 500, lambda part: part == "*", equal)
    assert steps <= 101 * 500
