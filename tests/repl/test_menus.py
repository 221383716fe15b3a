"""Menus: when they open, what they offer, and what keys do to them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.render.look import Look
from grokmini.repl.commands.table import COMMANDS
from grokmini.repl.input_actions import Signal
from grokmini.repl.menus import Menu, MenuItem, Token, command_items
from tests.repl.draft import BACKSPACE, DOWN, ENTER, ESCAPE, LEFT, PROFILES, TAB, UP, Typist, pasted

SOME = tuple(
    row
    for row in COMMANDS
    if row.name in ("help", "model", "mode", "new", "usage", "diff", "repaint", "queue", "cd", "quit")
)


def test_a_slash_opens_the_commands_with_their_arguments() -> None:
    typist = Typist()
    typist.type("/")
    menu = typist.menu()
    assert menu[0].split() == ["›", "/help", "what", "can", "be", "typed", "here", f"1/{len(COMMANDS)}"]
    assert menu[1].split()[:2] == ["/model", "[name]"]
    assert len(menu) == 8


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("/mode", ["mode", "model"]),
        ("/mo", ["model", "mode"]),
        ("/m", ["model", "mode"]),
        ("/clear", ["new"]),
        ("/EXI", ["quit"]),
        ("/dff", ["diff"]),
        ("/e", ["quit", "help", "model", "mode", "new", "usage", "repaint", "queue"]),
        ("/xyz", []),
    ],
)
def test_commands_are_found_by_beginning_alias_and_letters(typed: str, names: list[str]) -> None:
    assert [item.label.split()[0] for item in command_items(typed, SOME)] == [f"/{name}" for name in names]


@pytest.mark.parametrize(
    "typed", ["/etc/hosts", "see /he", " /he", "/he x", "//", "/xyz", "a@b", "@nothing", "@a@b"]
)
def test_nothing_else_opens_a_menu(typed: str) -> None:
    typist = Typist()
    typist.type(typed)
    assert typist.menu() == []


@pytest.mark.parametrize(
    ("bursts", "sent"),
    [
        (("/he", ENTER), "/help"),
        (("/he\r",), "/help"),
        (("/", DOWN, DOWN, DOWN, UP, ENTER), "/mode "),
        (("/", UP, ENTER), "/quit"),
        (("/he", TAB, ENTER), "/help"),
        (("/clear", ENTER), "/new"),
        (("/mode", TAB, "plan", ENTER), "/mode plan"),
        (("/cd", ENTER, "src", ENTER), "/cd src"),
        (("/he", ESCAPE, ENTER), "/he"),
        (("/he", ESCAPE, "l", ENTER), "/hel"),
        (("/nothing", ENTER), "/nothing"),
    ],
)
def test_a_command_is_chosen_and_sent(bursts: tuple[bytes | str, ...], sent: str) -> None:
    assert Typist().sends(*bursts) == [sent]


def test_tab_offers_the_names_that_a_command_takes_and_enter_never_takes_one_unasked() -> None:
    typist = Typist()
    typist.type("/sandbox ")
    assert typist.menu() == []
    typist.type(TAB)
    assert [line.split()[-1] for line in typist.menu()] == list(PROFILES)
    assert Typist().sends("/sandbox ", ENTER) == ["/sandbox "]
    assert Typist().sends("/sandbox st", TAB, ENTER) == ["/sandbox strict"]
    assert Typist().sends("/mode st", TAB, ENTER) == ["/mode st"]


def test_esc_closes_the_menu_before_it_asks_anything_of_the_program() -> None:
    typist = Typist()
    typist.type("/")
    assert typist.type(ESCAPE) == []
    assert typist.menu() == []
    assert typist.type(ESCAPE) == [Signal.ESCAPE]
    typist.type(BACKSPACE, "/")
    assert typist.menu()


@pytest.mark.parametrize("leave", [LEFT, b"\x01", pasted("x"), b"\n"])
def test_what_is_no_typing_closes_the_menu(leave: bytes) -> None:
    typist = Typist()
    typist.type("/he", leave)
    assert typist.menu() == []


def test_paths_are_offered_best_first_and_chosen_by_enter_or_tab() -> None:
    for key in (ENTER, TAB):
        typist = Typist()
        typist.type("fix @cal")
        assert typist.menu() == [
            "› src/calc.py",
            "  src/calendar.py",
            "  tests/test_calc.py",
            "  docs/a plan.md",
        ]
        assert typist.type(DOWN, key) == []
        assert typist.draft == "fix @src/calendar.py "


def test_a_path_in_the_middle_of_the_draft_keeps_what_follows() -> None:
    typist = Typist()
    typist.type("fix  now", *[LEFT] * 4, "@README", TAB, "!")
    assert typist.draft == "fix @README.md! now"


def test_a_folder_is_entered_and_a_path_with_blanks_is_quoted() -> None:
    typist = Typist()
    typist.type("see @docs", TAB)
    assert typist.draft == "see @docs/"
    assert typist.menu() == ["› docs/a plan.md"]
    typist.type(TAB)
    assert typist.draft == 'see @"docs/a plan.md" '


def test_a_path_typed_in_full_is_sent_by_enter() -> None:
    assert Typist().sends("see @src/calc.py", ENTER) == ["see @src/calc.py"]


def test_what_is_chosen_stays_chosen_when_a_better_result_comes() -> None:
    token = Token("path", 0, "a")
    items = [MenuItem(name, "", name, complete=False) for name in "abcd"]
    former, latter = Menu(token, items[:2]), Menu(token, items[::-1])
    former.move(1)
    latter.keep(former)
    assert latter.chosen == items[1]


def test_a_long_menu_shows_eight_rows_around_what_is_chosen() -> None:
    typist = Typist(files=[f"file{number:02}" for number in range(30)])
    typist.type("@", *[DOWN] * 10)
    menu = typist.menu(60)
    assert len(menu) == 8
    assert menu[4] == "› file10" + " " * 47 + "11/30"
    typist.type(*[DOWN] * 20)
    assert typist.menu()[0].startswith("› file00")


@given(st.lists(st.text(max_size=30), min_size=1, max_size=12), st.integers(1, 40), st.integers(0, 11))
@settings(max_examples=100)
def test_menu_rows_fit_any_width(labels: list[str], width: int, index: int) -> None:
    items = [MenuItem(label, label[::-1], label, complete=False) for label in labels]
    menu = Menu(Token("path", 0, ""), items)
    menu.move(index)
    rows = menu.rows(Look(), width)
    assert len(rows) == min(8, len(items))
    assert all(row.width <= width for row in rows)
