"""Unified diffs: right, and quick for any size."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.diff import count_changes, unified_diff
from tests.cost import LINEAR, growth

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "--- x", "+++ y", "", "@@ -1 +1 @@"]), max_size=30).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join(lines) + "\n"])
)


def apply_diff(before: str, diff: str) -> str:
    """A strict patch of our own: every context and removed line must be there."""
    old = before.split("\n")
    rows = diff.split("\n")
    result: list[str] = []
    at, index = 0, 2
    ends_open = not before.endswith("\n") if before else False
    lines = old if ends_open else old[:-1]
    no_newline = ends_open
    while index < len(rows) and rows[index].startswith("@@ "):
        ranges = rows[index].split(" ")
        start, _, count = ranges[1][1:].partition(",")
        olds, news = int(count or 1), int((ranges[2].partition(",")[2]) or 1)
        begin = int(start) - (1 if olds else 0)
        result += lines[at:begin]
        at = begin
        index += 1
        while olds > 0 or news > 0:
            sign, text = rows[index][0], rows[index][1:]
            if sign in " -":
                assert lines[at] == text
                at += 1
                olds -= 1
            if sign in " +":
                result.append(text)
                news -= 1
                no_newline = False
            index += 1
            if index < len(rows) and rows[index].startswith("\\"):
                no_newline = sign in " +"
                index += 1
            elif sign == "-" and at == len(lines):
                no_newline = False
    result += lines[at:]
    if at < len(lines):
        no_newline = ends_open
    return "\n".join(result) + ("" if no_newline or not result else "\n")


@settings(max_examples=100)
@given(TEXTS, TEXTS)
def test_a_diff_applied_to_the_old_text_gives_the_new_one(before: str, after: str) -> None:
    diff = unified_diff(before, after, "f")
    if before == after:
        assert diff == ""
    else:
        assert apply_diff(before, diff).removesuffix("\n") == after.removesuffix("\n")


@settings(max_examples=60)
@given(TEXTS, TEXTS)
def test_changes_are_counted_by_hunks_whatever_the_lines_look_like(before: str, after: str) -> None:
    added, removed = count_changes(unified_diff(before, after, "f"))
    old, new = before.split("\n"), after.split("\n")
    lines_before = len(old) - (old[-1] == "")
    lines_after = len(new) - (new[-1] == "")
    assert added - removed == lines_after - lines_before


def test_a_diff_looks_as_git_writes_it() -> None:
    before = "import x\n\ndef add(a, b):\n    return a - b\n"
    after = "import x\n\ndef add(a, b):\n    return a + b"
    assert unified_diff(before, after, "calc.py") == (
        "--- a/calc.py\n+++ b/calc.py\n@@ -1,4 +1,4 @@\n import x\n \n def add(a, b):\n"
        "-    return a - b\n+    return a + b\n\\ No newline at end of file\n"
    )


def test_a_new_file_and_an_emptied_one_have_the_ranges_of_the_format() -> None:
    assert "@@ -0,0 +1,2 @@\n+a\n+b\n" in unified_diff("", "a\nb\n", "f")
    assert "@@ -1,2 +0,0 @@\n-a\n-b\n" in unified_diff("a\nb\n", "", "f")


def test_a_path_cannot_break_out_of_the_header() -> None:
    assert unified_diff("a", "b", "x\n@@ -1 +1 @@\x1b[2J").split("\n")[1] == "+++ b/x␊@@ -1 +1 @@␛[2J"


def texts_apart(kind: str, count: int) -> tuple[str, str]:
    """Two texts of about so many lines."""
    lines = [f"line {i}" for i in range(count)]
    other = list(lines)
    if kind == "shuffled":
        random.Random(7).shuffle(other)
    elif kind == "repeated":
        lines, other = ["same", ""] * (count // 2), ["", "same", "same"] * (count // 3)
    elif kind == "reversed":
        other.reverse()
    else:
        other[100] = "changed"
        other[-1_000:-1_000] = ["new"]
    return "\n".join(lines), "\n".join(other)


@pytest.mark.parametrize("kind", ["shuffled", "repeated", "reversed", "edited"])
def test_huge_texts_are_compared_in_little_time(kind: str) -> None:
    assert growth(lambda count: unified_diff(*texts_apart(kind, count), "f"), 20_000) < LINEAR
    if kind == "edited":
        assert count_changes(unified_diff(*texts_apart(kind, 20_000), "f")) == (2, 1)
