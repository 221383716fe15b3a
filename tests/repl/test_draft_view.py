"""What a draft looks like: every row fits, nothing is lost, the cursor is in its cell."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.repl.draft_layout import Place, Wrapper, boundary
from grokmini.repl.draft_view import Draft, columns, draft_view, scrolled
from grokmini.repl.painter import Cursor
from tests.repl.draft import DOWN, LEFT, UP, Typist, pasted

LOOK = Look()
TEXTS = st.text(st.sampled_from("ab cd\n\t日本éẹ́👩‍👩‍👧🇩🇪\u0301\x1b\u202e\ud800"), max_size=40)


def label(mark: str) -> str:
    return "[paste 30 lines: some words…]"


def test_the_cursor_of_wide_characters_is_in_its_cell() -> None:
    typist = Typist()
    typist.type("日本語入力")
    assert typist.rows() == ["› 日本語入力"]
    assert typist.view().cursor == Cursor(0, 12)
    typist.type(LEFT)
    assert typist.view().cursor == Cursor(0, 10)


def test_an_empty_draft_looks_the_same_before_the_editor_is_loaded() -> None:
    for width in (1, 5, 6, 40):
        typist = Typist()
        early = typist.view(width)
        typist.input.load()
        assert early == typist.view(width)


def test_the_first_prompt_needs_no_editor() -> None:
    code = "import sys, tests.repl.draft as d; d.Typist().view(); print('prompt_toolkit' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    ("width", "rows", "cursor"),
    [
        (20, ["› hello wide 日本"], Cursor(0, 17)),
        (10, ["› hello w", "  ide 日", "  本"], Cursor(2, 4)),
        (6, ["› hel", "  lo ", "  wid", "  e ", "  日", "  本"], Cursor(5, 4)),
        (4, ["hel", "lo ", "wid", "e ", "日", "本"], Cursor(5, 2)),
        (2, ["he", "ll", "o ", "wi", "de", " ", "日", "本"], Cursor(7, 1)),
        (1, [*"hello wide ", "…", "…"], Cursor(12, 0)),
    ],
)
def test_a_draft_wraps_at_any_width(width: int, rows: list[str], cursor: Cursor) -> None:
    typist = Typist()
    typist.type("hello wide 日本")
    assert typist.rows(width, rows=20) == rows
    assert typist.view(width, rows=20).cursor == cursor


def test_a_tall_draft_scrolls_around_the_cursor_and_says_that_there_is_more() -> None:
    typist = Typist()
    typist.type(pasted("\n".join(f"row {number}" for number in range(9))))
    assert typist.rows(rows=3) == ["↑ row 6", "  row 7", "  row 8"]
    typist.type(UP, UP)
    assert typist.rows(rows=3) == ["↑ row 6", "  row 7", "  row 8"]
    typist.type(UP)
    assert typist.rows(rows=3) == ["↑ row 5", "  row 6", "↓ row 7"]
    assert typist.view(rows=3).cursor == Cursor(0, 7)
    typist.type(*[UP] * 5)
    assert typist.rows(rows=3) == ["› row 0", "  row 1", "↓ row 2"]
    typist.type(DOWN)
    assert typist.rows(rows=3) == ["› row 0", "  row 1", "↓ row 2"]
    assert typist.rows(rows=1) == ["↓ row 1"]


def test_marks_have_ascii_forms() -> None:
    typist = Typist(unicode=False)
    typist.type(pasted("a\nb\nc"))
    assert typist.rows(rows=2) == ["^ b", "  c"]
    assert typist.rows() == ["> a", "  b", "  c"]


def test_a_command_shows_what_it_takes_as_long_as_nothing_is_typed() -> None:
    typist = Typist()
    typist.type("/mode ")
    assert typist.rows() == ["› /mode [name]"]
    assert typist.view().cursor == Cursor(0, 8)
    assert typist.rows(10) == ["› /mode "]
    typist.type("a")
    assert typist.rows() == ["› /mode a"]


def test_a_selection_is_marked() -> None:
    typist = Typist()
    typist.type("one", b"\x1b[1;2D", b"\x1b[1;2D")
    assert [(span.text, span.style.underline) for span in typist.view().rows[0].spans[2:]] == [("ne", True)]


def test_control_characters_of_a_recalled_text_are_shown_not_sent() -> None:
    typist = Typist(sent=["a\x1b[2Jb\u202ec"])
    typist.type(UP)
    assert typist.rows() == ["› a␛[2Jb<U+202E>c"]


@given(TEXTS, st.integers(1, 30), st.integers(0, 40))
@settings(max_examples=150)
def test_every_row_fits_and_the_cursor_is_inside(text: str, width: int, at: int) -> None:
    layout = Wrapper(label).wrap(text, columns(LOOK, width).room)
    cursor = boundary(text, min(at, len(text)), forward=False)
    view = draft_view(Draft(layout, cursor), LOOK, width, 0, len(layout))
    assert all(row.width <= width for row in view.rows)
    assert 0 <= view.cursor.row < len(view.rows)
    assert 0 <= view.cursor.column < width
    assert "".join(text[row.start : row.end] for row in map(layout.row, range(len(layout)))) == text.replace(
        "\n", ""
    )


@given(TEXTS, st.integers(1, 30), st.integers(0, 40))
@settings(max_examples=100)
def test_a_place_leads_back_to_its_character(text: str, room: int, at: int) -> None:
    layout = Wrapper(label).wrap(text, room)
    starts = {
        unit.start for number in range(len(layout)) for unit in layout.units(layout.row(number)) if unit.cells
    }
    for index in starts:
        assert layout.index_at(layout.place_of(index)) <= index
        assert layout.place_of(layout.index_at(layout.place_of(index))) == layout.place_of(index)
    assert layout.index_at(Place(len(layout) - 1, 1_000)) == len(text)


@given(TEXTS, st.lists(st.integers(1, 12), min_size=2, max_size=4))
@settings(max_examples=100)
def test_wrapping_again_is_like_wrapping_for_the_first_time(text: str, rooms: list[int]) -> None:
    wrapper = Wrapper(label)
    for room in rooms:
        for part in (text, text[:10], text):
            again, first = wrapper.wrap(part, room), Wrapper(label).wrap(part, room)
            assert list(map(again.row, range(len(again)))) == list(map(first.row, range(len(first))))


@given(st.integers(0, 20), st.integers(0, 20), st.integers(1, 21), st.integers(1, 12))
@settings(max_examples=100)
def test_scrolling_keeps_the_cursor_in_sight_and_the_room_used(
    top: int, cursor: int, rows: int, height: int
) -> None:
    cursor = min(cursor, rows - 1)
    found = scrolled(top, cursor, rows, height)
    assert found <= cursor < found + height
    assert found == 0 or found + height <= rows
    if top <= cursor < top + height and (top == 0 or top + height <= rows):
        assert found == top


@pytest.mark.parametrize(
    ("text", "index", "before", "behind"),
    [
        ("abc", 1, 1, 1),
        ("ae\u0301b", 2, 1, 3),
        ("ae\u0301", 3, 3, 3),
        ("x\n👩‍👩‍👧", 4, 2, 7),
        ("", 0, 0, 0),
        ("日" * 200 + "e\u0301", 201, 200, 202),
    ],
)
def test_a_place_inside_a_grapheme_moves_to_its_edge(text: str, index: int, before: int, behind: int) -> None:
    assert boundary(text, index, forward=False) == before
    assert boundary(text, index, forward=True) == behind


def test_lines_are_plain_text_for_copying() -> None:
    typist = Typist()
    typist.type("a  b\tc")
    assert [plain(row) for row in typist.view().rows] == ["› a  b    c"]
