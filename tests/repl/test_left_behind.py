"""Rows out of reach are not printed again when their text is finished."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grokmini.render.lines import Line, Span, Style, line_of, plain
from grokmini.repl.left_behind import LeftBehind
from grokmini.repl.painter import Cursor, LiveView, Size
from tests.fakes.emulator import Kind
from tests.repl.drawing import Drawing, rows


def lines(*texts: str) -> list[Line]:
    return [line_of(text) for text in texts]


def left(*texts: str) -> LeftBehind:
    behind = LeftBehind()
    behind.add(lines(*texts))
    return behind


def texts(found: Sequence[Line]) -> list[str]:
    return [plain(line) for line in found]


@pytest.mark.parametrize(
    ("behind", "finished", "printed"),
    [
        (["", "one two", "three"], ["", "one", "two three", "four"], ["four"]),
        (["", "one two"], ["", "one two three", "four"], ["three", "four"]),
        (["one tw"], ["one two"], ["two"]),
        (["one two"], ["one other"], ["one other"]),
        (["one", "other"], ["one two"], ["one two"]),
        (["one", "other"], ["one", "two"], ["two"]),
        (["* Run make", "Run this?"], ["* Run make  0.8 s  ok", "done"], ["* Run make  0.8 s  ok", "done"]),
        (["one two"], ["one two"], []),
        (["", ""], ["", "one"], ["", "one"]),
        ([], ["", "one"], ["", "one"]),
    ],
)
def test_a_finished_text_goes_on_behind_what_stands_there(
    behind: list[str], finished: list[str], printed: list[str]
) -> None:
    assert texts(left(*behind).shorten(lines(*finished))) == printed


def test_it_is_remembered_for_as_long_as_what_is_finished_says_the_same() -> None:
    behind = left("one two", "three four")
    assert behind.shorten(lines("one")) == []
    assert texts(behind.shorten(lines("two three", "", "four five"))) == ["five"]
    assert texts(behind.shorten(lines("one two"))) == ["one two"]


def test_styles_of_the_rest_are_kept() -> None:
    bold = Style(bold=True)
    (rest,) = left("one").shorten([Line((Span("one tw"), Span("o three", bold)))])
    assert rest == Line((Span("tw"), Span("o three", bold)))


def test_live_rows_that_stand_there_already_are_not_shown_again() -> None:
    behind = left("", "one two")
    view = LiveView(tuple(lines("", "one", "two three", "", "> draft", "status")), Cursor(4, 2))
    trimmed = behind.trim(view)
    assert texts(trimmed.rows) == ["three", "", "> draft", "status"]
    assert trimmed.cursor == Cursor(2, 2)
    other = LiveView(tuple(lines("something else", "> draft")), Cursor(1, 2))
    assert behind.trim(other) == other
    typed = LiveView(tuple(lines("> one two", "status")), Cursor(0, 2))
    assert behind.trim(typed) == typed


def test_a_paragraph_that_was_pushed_out_half_way_is_there_once() -> None:
    words = [f"w{number:02}" for number in range(60)]
    tail = [" ".join(words[at : at + 12]) for at in range(0, 48, 12)]
    drawing = Drawing(Size(60, 10))
    drawing.frame(lines(*["full"] * 10), rows(*tail, "> draft", "status", cursor=Cursor(4, 7)))
    drawing.resize(Size(20, 8))
    narrow = [" ".join(words[at : at + 5]) for at in range(0, 60, 5)]
    drawing.frame(live=rows(*narrow[-4:], "> draft", "status", cursor=Cursor(4, 7)))
    drawing.frame(lines(*narrow), rows("> draft", "status", cursor=Cursor(0, 7)))
    assert " ".join(drawing.terminal.lines).split() == [*["full"] * 10, *words, ">", "draft", "status"]


@pytest.mark.parametrize("kind", [Kind.TMUX, Kind.VTE])
@pytest.mark.parametrize("small", [Size(60, 8), Size(30, 8), Size(90, 6)])
def test_what_comes_back_with_a_greater_height_is_drawn_over(kind: Kind, small: Size) -> None:
    """A question in a pane that is made small for a while, and then answered."""
    drawing = Drawing(Size(60, 24), kind)
    question = [f"a row of a question, number {number}, and what it says" for number in range(12)]
    tall = rows("\u2022 Run   make", *question, "status")
    drawing.frame(lines(*[f"full {number}" for number in range(30)]), tall)
    for _ in range(2):
        drawing.resize(small)
        drawing.frame(live=rows(*question[:3], "1 yes  3 no", "status"))
        drawing.resize(Size(60, 24))
        drawing.frame(live=tall)
    drawing.frame(lines("\u2022 Run   make  0.8 s  ok"), rows("> ", "status"))
    assert drawing.terminal.lines == [*texts(drawing.committed), ">", "status"]
