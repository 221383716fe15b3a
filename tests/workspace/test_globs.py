"""Glob patterns."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.workspace.globs import Glob, expand_braces
from tests.cost import LINEAR, growth


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("**/test_*.py", "tests/test_a.py", True),
        ("src/**", "src/a/b", True),
        ("src/", "src", True),
        ("*.{ts,tsx}", "x/y.tsx", True),
        ("*.{ts,tsx}", "x/y.js", False),
        ("a?c", "abc", True),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("./a.py", "a.py", True),
        ("./a.py", "b/a.py", False),
        ("\\*.py", "*.py", True),
        ("\\*.py", "a.py", False),
        ("[", "[", True),
    ],
)
def test_a_pattern_means_what_people_expect(pattern: str, path: str, expected: bool) -> None:
    assert Glob(pattern).matches(path) is expected


@settings(max_examples=60)
@given(st.text("ab*?", min_size=1, max_size=6), st.text("ab", max_size=6))
def test_a_name_matches_as_the_standard_library_says(pattern: str, name: str) -> None:
    assert Glob(f"./{pattern}").matches(name) == (
        fnmatch.fnmatchcase(name, pattern) if pattern != "**" else True
    )


def test_no_pattern_takes_long() -> None:
    stars, folders = Glob("*a" * 30 + "b"), Glob("**/a/" * 20 + "b")
    assert growth(lambda count: stars.matches("a" * count), 100_000) < LINEAR
    assert growth(lambda count: folders.matches("a/" * count + "c"), 50_000) < LINEAR
    assert not stars.matches("a" * 250)
    assert not folders.matches("a/" * 100 + "c")


def test_braces_nest_and_are_bounded() -> None:
    assert expand_braces("{a,b{c,d}}") == ["a", "bc", "bd"]
    with pytest.raises(ValueError, match="too many"):
        expand_braces("{a,b}" * 12)


def test_an_empty_pattern_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Glob("/")
