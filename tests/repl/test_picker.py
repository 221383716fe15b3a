"""The list of sessions in the live region: narrowing, moving, choosing, at any width."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.repl.keys import Chord, Key, Press, Text
from grokmini.repl.picker import Chosen, Picker, SearchFor, Wish
from tests.repl.scripted_session import row

ROWS = [row(1, "flaky login"), row(2, "login page"), row(3, "readme", folder="~/docs")]


def opened(rows: Sequence[object] = ROWS) -> Picker:
    picker = Picker("go on with")
    picker.loaded(ROWS if rows is ROWS else [])
    return picker


def typed(picker: Picker, text: str) -> None:
    for character in text:
        assert picker.press(Text(character)) is None


def shown(picker: Picker, width: int = 60, room: int = 12) -> list[str]:
    return [plain(line) for line in picker.view(width, room, Look())[0]]


def test_it_says_that_it_reads_until_the_sessions_are_there() -> None:
    picker = Picker("go on with")
    assert "reading the sessions" in shown(picker)[1]
    assert picker.press(Key.ENTER) is None


def test_typing_narrows_by_every_word_of_title_and_folder() -> None:
    picker = opened()
    typed(picker, "login fla")
    assert len(shown(picker)) == 3
    assert "flaky login" in shown(picker)[1]
    assert picker.press(Key.ENTER) == Chosen(ROWS[0].session_id)
    picker.press(Key.KILL_LINE)
    typed(picker, "docs")
    assert picker.press(Key.ENTER) == Chosen(ROWS[2].session_id)


def test_keys_move_within_the_list_and_no_further() -> None:
    picker = opened()
    for press in (Key.DOWN, Key.DOWN, Key.DOWN, Key.DOWN):
        picker.press(press)
    assert picker.press(Key.ENTER) == Chosen(ROWS[2].session_id)
    picker.press(Chord("\x1b[5~"))
    assert picker.press(Key.ENTER) == Chosen(ROWS[0].session_id)


def test_words_in_no_title_are_looked_for_in_what_was_said() -> None:
    picker = opened()
    typed(picker, "timeout")
    assert "Enter looks in what was said" in shown(picker)[1]
    assert picker.press(Key.ENTER) == SearchFor("timeout")
    picker.found([ROWS[2]])
    assert "readme" in shown(picker)[1]
    assert picker.press(Key.ENTER) == Chosen(ROWS[2].session_id)
    picker.found([])
    assert "nobody said that" in shown(picker)[1]
    assert picker.press(Key.ENTER) is None
    picker.press(Key.BACKSPACE)
    assert "Enter looks in what was said" in shown(picker)[1]


def test_tab_changes_between_this_folder_and_all() -> None:
    picker = opened()
    assert (picker.press(Key.TAB), picker.everywhere) == (Wish.RELOAD, True)
    assert "reading" in shown(picker)[1]


@pytest.mark.parametrize("press", [Key.ESCAPE, Key.END_OF_FILE])
def test_it_can_be_left(press: Press) -> None:
    assert opened().press(press) is Wish.CLOSE


def test_without_sessions_it_says_so() -> None:
    assert "there are none of this folder" in shown(opened([]))[1]


@settings(max_examples=50)
@given(width=st.integers(1, 120), room=st.integers(1, 30), query=st.text(max_size=8), place=st.integers(0, 40))
def test_it_fits_any_screen_and_the_chosen_row_is_on_it(width: int, room: int, query: str, place: int) -> None:
    picker = Picker("go on with")
    rows = [row(number % 10, f"session {number} 漢字") for number in range(40)]
    picker.loaded(rows)
    for _ in range(place):
        picker.press(Key.DOWN)
    lines, cursor = picker.view(width, room, Look())
    assert len(lines) <= room
    assert all(line.width <= width for line in lines)
    assert 0 <= cursor.column < max(1, width)
    if room > 3 and width > 30:
        assert any(plain(line).startswith("› ") for line in lines)
    picker.press(Text(query))
    assert len(picker.view(width, room, Look(unicode=False))[0]) <= room
