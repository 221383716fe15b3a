"""Titles: one line, short, safe to show; and what a model says when it is asked for one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.sanitise import sanitise
from grokmini.text.title import TITLE_LIMIT, quoted, title_from_model, title_of


def test_the_first_line_that_says_something_is_the_title() -> None:
    assert title_of("\n  \n  fix   the\tbuild \nplease") == "fix the build"
    assert title_of(" \n") == ""


def test_a_long_line_is_cut_and_marked() -> None:
    assert title_of("x" * 200) == "x" * (TITLE_LIMIT - 1) + "…"


def test_in_a_sentence_quotes_of_its_own_are_told_from_those_around_it() -> None:
    assert quoted("fix it") == '"fix it"'
    assert quoted('"fix" it') == "\"'fix' it\""


def test_what_would_drive_a_terminal_becomes_marks() -> None:
    assert "\x1b" not in title_of("\x1b]0;evil\x07 title")


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Fix the flaky build", "Fix the flaky build"),
        ('"Fix the flaky build."\n', "Fix the flaky build"),
        ("**Title:** Fix the flaky build", "Fix the flaky build"),
        ("Title: Title case in headings", "Title case in headings"),
        ("## Fix  the\tbuild", "Fix the build"),
        ("修正構建腳本", "修正構建腳本"),
        ("\n\n« Réparer le build »\n", "Réparer le build"),
        ("Upgrade to 3.12 and C++", "Upgrade to 3.12 and C++"),
    ],
)
def test_what_a_model_puts_around_a_title_goes(answer: str, title: str) -> None:
    assert title_from_model(answer) == title


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "\n \n",
        "...",
        '""',
        "🙂",
        "<think>The user wants",
        '{"title": "x"}',
        "[tool call]",
        "a\nb\nc",
        "word " * 60,
        "Evil \x1b[2J title",
        "Fix \u202ethe build",
    ],
)
def test_what_is_no_title_is_refused(answer: str) -> None:
    assert title_from_model(answer) == ""


def test_a_title_that_is_too_long_is_cut_between_words() -> None:
    title = title_from_model("Rewrite " + "the parser of configuration files " * 4)
    assert len(title) <= TITLE_LIMIT
    assert title.endswith("…")
    assert title.removesuffix("…").split()[-1] in ("the", "parser", "of", "configuration", "files")


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_every_title_is_one_short_line_that_is_safe_to_show(text: str) -> None:
    for title in (title_of(text), title_from_model(text)):
        assert len(title) <= TITLE_LIMIT
        assert "\n" not in title
        assert sanitise(title, newlines=False) == title
