"""What the live region shows, and in how many rows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.tools import TodoEntry
from grokmini.render.lines import line_of, plain
from grokmini.render.look import Look
from grokmini.repl.live import KEPT_FREE, LIVE_ROWS, LiveParts, compose, room_for_panel
from grokmini.repl.painter import Cursor, Size
from grokmini.repl.session_state import Queued

SIZE = Size(60, 24)
STATUS = line_of("model · ask")


def parts(tail: int = 0, panel: int = 1, menu: int = 0, queued: int = 0, todos: int = 0) -> LiveParts:
    """So many rows of each."""
    return LiveParts(
        tail=[line_of(f"tail {number}") for number in range(tail)],
        panel=[line_of(f"panel {number}") for number in range(panel)],
        status=STATUS,
        cursor=Cursor(panel - 1, 3) if panel else None,
        todos=[TodoEntry(f"t{number}", f"step {number}", "pending") for number in range(todos)],
        queue=[Queued(f"p{number}", f"prompt {number}") for number in range(queued)],
        menu=[line_of(f"menu {number}") for number in range(menu)],
    )


def rows(wanted: LiveParts, size: Size = SIZE) -> list[str]:
    return [plain(line) for line in compose(wanted, size, Look()).rows]


def test_from_top_to_bottom() -> None:
    assert rows(parts(tail=2, panel=1, menu=1, queued=1, todos=1)) == [
        "tail 0",
        "tail 1",
        "",
        "  0/1 done · now: step 0",
        "panel 0",
        "menu 0",
        '  queued: "prompt 0" · Enter on an empty line sends it now',
        "model · ask",
    ]


def test_a_tall_tail_is_clipped_and_says_by_how_much() -> None:
    shown = rows(parts(tail=50))
    assert len(shown) == LIVE_ROWS
    assert shown[0] == "… 41 earlier lines"
    assert shown[1:10] == [f"tail {number}" for number in range(41, 50)]


def test_where_one_row_is_left_for_a_tall_tail_it_shows_the_end_and_no_count() -> None:
    assert rows(parts(tail=5, panel=LIVE_ROWS - 2))[0] == "tail 4"


def test_the_cursor_stays_in_its_cell_whatever_stands_above() -> None:
    for tail in (0, 3, 50):
        view = compose(parts(tail=tail, panel=2), SIZE, Look())
        assert view.cursor is not None and view.cursor.column == 3
        assert plain(view.rows[view.cursor.row]) == "panel 1"


def test_more_than_one_queued_prompt_is_counted_and_narrow_the_hint_goes() -> None:
    assert rows(parts(queued=3), Size(30, 24))[-2] == '  queued: "prompt 0" +2'


def test_todos_that_are_done_need_no_row() -> None:
    done = [TodoEntry("t1", "step", "completed")]
    assert rows(parts()._replace(todos=done)) == rows(parts())
    going = [*done, TodoEntry("t2", "next", "in_progress"), TodoEntry("t3", "never", "cancelled")]
    assert rows(parts()._replace(todos=going))[1] == "  1/2 done · now: next"


@settings(max_examples=100)
@given(
    st.integers(0, 40), st.integers(1, 30), st.integers(0, 8), st.integers(0, 2), st.integers(0, 2), st.data()
)
def test_it_always_fits_and_the_panel_s_end_is_always_there(
    tail: int, panel: int, menu: int, queued: int, todos: int, data: st.DataObject
) -> None:
    size = Size(data.draw(st.integers(1, 100)), data.draw(st.integers(1, 40)))
    panel = min(panel, room_for_panel(size))
    view = compose(parts(tail, panel, menu, queued, todos), size, Look())
    most = max(1, size.rows - KEPT_FREE)
    assert len(view.rows) <= most
    if panel + menu + bool(queued) + 1 <= LIVE_ROWS:
        assert len(view.rows) <= LIVE_ROWS
    assert view.cursor is not None
    assert 0 <= view.cursor.row < len(view.rows) and 0 <= view.cursor.column < size.columns
    for line in view.rows:
        given = plain(line).startswith(("panel", "menu", "model"))
        assert given or line.width <= size.columns
