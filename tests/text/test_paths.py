"""Paths as they are shown and read back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.paths import given_path, visible_path
from grokmini.text.sanitise import sanitise


@pytest.mark.parametrize(
    "name", ["a.txt", "src/my file.py", "été/日本.md", "it's", 'say "hi"', "back\\slash", "a]b["]
)
def test_an_ordinary_path_is_shown_as_it_is(name: str) -> None:
    assert visible_path(name) == name


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a\nb", '"a\\nb"'),
        ("a\tb\r", '"a\\tb\\r"'),
        ("\x1b[2J", '"\\u001b[2J"'),
        ("x\u202ey", '"x\\u202ey"'),
        ("x\u2028y", '"x\\u2028y"'),
        ("x\x9by", '"x\\u009by"'),
        ("x\U000e0041y", '"x\\udb40\\udc41y"'),
        ('"quoted"', '"\\"quoted\\""'),
        ('a\n"b\\', '"a\\n\\"b\\\\"'),
    ],
)
def test_an_odd_path_is_shown_as_a_json_string(name: str, shown: str) -> None:
    assert visible_path(name) == shown
    assert given_path(shown) == name


@pytest.mark.parametrize("text", ["", '"', 'a"', '"a', '"a" and "b"', '"bad \\x escape"', "plain"])
def test_a_text_that_is_no_json_string_is_the_path_itself(text: str) -> None:
    assert given_path(text) == text


@settings(max_examples=50)
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_path_is_one_safe_line_and_read_back(name: str) -> None:
    shown = visible_path(name)
    assert sanitise(shown, newlines=False) == shown
    assert given_path(shown) == name
