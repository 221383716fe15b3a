"""What a terminal can do, from its environment."""

from __future__ import annotations

import pytest

from grokmini.render.capabilities import BASIC, NO_COLOUR, PALETTE, TRUE_COLOUR, Capabilities, detect


def found(
    env: dict[str, str], *, is_tty: bool = True, width: int = 100, encoding: str = "utf-8"
) -> Capabilities:
    return detect(env, is_tty=is_tty, width=width, encoding=encoding)


@pytest.mark.parametrize(
    ("env", "level"),
    [
        ({"TERM": "xterm"}, BASIC),
        ({"TERM": "xterm-256color"}, PALETTE),
        ({"TERM": "xterm-256color", "COLORTERM": "truecolor"}, TRUE_COLOUR),
        ({"TERM": "xterm", "TERM_PROGRAM": "WezTerm"}, TRUE_COLOUR),
        ({"TERM": "screen", "KITTY_WINDOW_ID": "1"}, PALETTE),
        ({"TERM": "xterm", "TMUX": "x", "VTE_VERSION": "7000"}, PALETTE),
        ({"TERM": "xterm-256color", "NO_COLOR": "1", "FORCE_COLOR": "3"}, NO_COLOUR),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, PALETTE),
        ({"TERM": "xterm", "CLICOLOR": "0"}, NO_COLOUR),
        ({"TERM": "xterm", "CLICOLOR": "0", "FORCE_COLOR": "2"}, PALETTE),
        ({"TERM": "xterm-256color", "FORCE_COLOR": "0"}, NO_COLOUR),
        ({"TERM": "dumb", "FORCE_COLOR": "1", "COLORTERM": "truecolor"}, NO_COLOUR),
        ({}, NO_COLOUR),
    ],
)
def test_the_number_of_colours_on_a_terminal(env: dict[str, str], level: int) -> None:
    assert found(env).colour_level == level


def test_a_pipe_gets_colours_only_when_they_are_forced() -> None:
    assert found({"TERM": "xterm", "COLORTERM": "truecolor"}, is_tty=False).colour_level == NO_COLOUR
    assert found({"TERM": "xterm", "FORCE_COLOR": "1"}, is_tty=False).colour_level == BASIC
    assert found({"TERM": "xterm", "CLICOLOR_FORCE": "1"}, is_tty=False).colour_level == BASIC


def test_what_has_no_cursor_control_is_dumb() -> None:
    assert [found({"TERM": term}).dumb for term in ("dumb", "", "xterm")] == [True, True, False]
    assert found({"TERM": "xterm"}, is_tty=False).dumb


def test_unicode_goes_by_the_encoding_of_the_stream() -> None:
    assert [found({}, encoding=name).unicode for name in ("UTF-8", "utf8", "latin-1", "ascii", "")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_a_width_of_nothing_counts_as_eighty() -> None:
    assert [found({}, width=width).width for width in (0, -1, 1, 300)] == [80, 80, 1, 300]


def test_a_screen_readers_wish_is_heard() -> None:
    assert [found({"ACCESSIBLE": value}).accessible for value in ("1", "0", "")] == [True, False, False]


@pytest.mark.parametrize("name", ["LC_ALL", "LC_CTYPE", "LANG"])
def test_who_asks_for_the_plain_c_locale_by_name_gets_ascii(name: str) -> None:
    for locale, unicode in (("C", False), ("POSIX", False), ("C.UTF-8", True), ("", True)):
        found = detect({"TERM": "xterm", name: locale}, is_tty=True, width=80, encoding="utf-8")
        assert found.unicode is unicode
