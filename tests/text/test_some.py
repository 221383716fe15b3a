"""Names in a sentence."""

from __future__ import annotations

from grokmini.text.some import some_of


def test_more_names_than_are_shown_are_counted() -> None:
    assert [some_of("abcd"[:count], 3) for count in range(5)] == [
        "",
        "a",
        "a, b",
        "a, b, c",
        "a, b, c and 1 more",
    ]
