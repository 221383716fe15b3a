"""Where the live rows are after a resize; which terminals wrap; news that come late."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.render.lines import line_of
from grokmini.repl.painter import Cursor, Drawn, Size
from grokmini.repl.reflow import LATE_SECONDS, PROMPT_SECONDS, Reflow, after_resize, reflow_of, settling_of
from tests.repl.drawing import Drawing, rows


@pytest.mark.parametrize(
    ("env", "expected"),
    [
        ({"TERM": "xterm-256color"}, Reflow.NONE),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, Reflow.AND_BACK),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600", "XTERM_VERSION": "XTerm(390)"}, Reflow.NONE),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, Reflow.BUT_CURSOR_ROW),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x,1,0", "XTERM_VERSION": "XTerm(390)"}, Reflow.AND_BACK),
        ({"TERM": "screen-256color", "TMUX": "/tmp/x,1,0"}, Reflow.AND_BACK),
        ({"TERM": "screen-256color", "STY": "1.pts", "VTE_VERSION": "7600"}, Reflow.NONE),
        ({"TERM": "xterm-256color", "ZELLIJ": "0"}, Reflow.ALL),
        ({"TERM": "xterm-kitty"}, Reflow.ALL),
        ({"TERM": "linux"}, Reflow.NONE),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, Reflow.ALL),
        ({"TERM": "xterm-256color", "WT_SESSION": "id"}, Reflow.ALL),
        ({"TERM": "xterm-256color", "TERMINAL_EMULATOR": "JetBrains-JediTerm"}, Reflow.BUT_CURSOR_ROW),
        ({}, Reflow.NONE),
    ],
)
def test_a_terminal_is_known_by_its_own_variables_and_an_unknown_one_counts_as_cutting(
    env: dict[str, str], expected: Reflow
) -> None:
    assert reflow_of(env) is expected


@pytest.mark.parametrize(
    ("env", "late"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, False),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/x,1,0"}, True),
        ({"TERM": "screen-256color"}, True),
    ],
)
def test_only_a_multiplexer_tells_of_sizes_late(env: dict[str, str], late: bool) -> None:
    assert settling_of(env) == (LATE_SECONDS if late else PROMPT_SECONDS)


def drawn(*texts: str, cursor: Cursor) -> Drawn:
    return Drawn(tuple(line_of(text) for text in texts), cursor, Size(80, 24), known=True)


@pytest.mark.parametrize(
    ("reflow", "above"), [(Reflow.AND_BACK, 4), (Reflow.ALL, 4), (Reflow.BUT_CURSOR_ROW, 3), (Reflow.NONE, 1)]
)
def test_rows_above_the_cursor_are_counted_as_the_terminal_wraps_them(reflow: Reflow, above: int) -> None:
    before = drawn("x" * 75, "y" * 45, "z" * 80, cursor=Cursor(1, 40))
    left = after_resize(before, Size(30, 24), reflow)
    assert (left.cursor.row, len(left.rows), left.known) == (above, 3, False)


def test_a_wide_character_that_does_not_fit_begins_a_new_row() -> None:
    before = drawn("日本語日本語", "", cursor=Cursor(1, 0))
    assert after_resize(before, Size(5, 24), Reflow.ALL).cursor.row == 3


def test_rows_out_of_reach_are_left_alone() -> None:
    before = drawn(*"abcdefgh", cursor=Cursor(6, 1))
    left = after_resize(before, Size(80, 5), Reflow.ALL)
    assert (len(left.rows), left.cursor.row) == (5, 3)


@pytest.mark.parametrize(("reflow", "reached"), [(Reflow.AND_BACK, 4), (Reflow.ALL, 1), (Reflow.NONE, 1)])
def test_rows_that_a_greater_height_brings_back_are_within_reach_again(reflow: Reflow, reached: int) -> None:
    above = tuple(line_of(text) for text in "abcde")
    before = Drawn((line_of("f"), line_of("g")), Cursor(1, 0), Size(80, 3), known=True, above=above)
    left = after_resize(before, Size(80, 5), reflow)
    assert left.cursor.row == reached
    assert left.rows == (*above[len(above) + 1 - reached :], *before.rows)


def test_nothing_changes_with_the_size_that_it_was_drawn_at() -> None:
    before = drawn("x" * 80, cursor=Cursor(0, 4))
    assert after_resize(before, Size(80, 24), Reflow.ALL) is before
    assert after_resize(Drawn(), Size(10, 10), Reflow.ALL) == Drawn()


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.booleans(), st.sampled_from([0, 20, 35, 60, 100]), st.integers(0, 2)),
        max_size=12,
    )
)
def test_news_of_a_resize_that_comes_late_costs_no_finished_line(
    steps: list[tuple[int, bool, int, int]],
) -> None:
    """Frames drawn for a size that is no more may leave stale rows; finished lines stay whole and in order."""
    drawing = Drawing(Size(60, 24))
    word, tail, late = 0, "", 0
    for more, finish, columns, delay in (*steps, (1, True, 0, 0), (1, True, 0, 0)):
        if columns and not late:
            drawing.terminal.resize(columns, 24)
            late, width = delay + 1, columns
        if late:
            late -= 1
            drawing.size = drawing.size if late else Size(width, 24)
        tail += "".join(f"w{word + n} " for n in range(more))
        word += more
        lines = [line_of(tail.rstrip())] if finish else []
        live = rows(
            *([] if finish else [tail.rstrip()]), "> draft", "status " + "." * (drawing.size.columns - 9)
        )
        tail = "" if finish else tail
        drawing.committed += lines
        drawing.now += 0.1
        drawing.terminal.feed(drawing.canvas.frame(lines, live, drawing.size, drawing.now))
        if not late:
            drawing.finish()
    seen, place = "\n".join(drawing.terminal.lines), 0
    for text in (line.spans[0].text for line in drawing.committed):
        assert text in seen[place:]
        place = seen.index(text, place) + 1
