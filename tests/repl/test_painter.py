"""Drawing: whatever comes in whatever order, the terminal shows every finished line once and the live rows below."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.render.lines import EMPTY, Line, line_of
from grokmini.render.stream import MarkdownStream
from grokmini.repl.painter import SYNC_OFF, SYNC_ON, Cursor, LiveView, Size, fresh_line, usable
from tests.fakes.emulator import Kind
from tests.repl.drawing import TEXTS, Drawing, line, rows

PROPERTY = settings(max_examples=60)


class Picture(NamedTuple):
    """One frame: finished lines and live rows as numbers of texts, the cursor, and when it is drawn."""

    finished: list[int]
    live: list[int]
    cursor: tuple[int, int] | None
    after: float
    resize: Size | None

    def assert_drawn_whole(self, drawing: Drawing) -> None:
        """Draw it; each finished line is then seen once, and the live rows below."""
        if self.resize is not None:
            drawing.resize(self.resize)
        first = len(drawing.committed)
        lines = [self._line(f"c{first + n}", text) for n, text in enumerate(self.finished)]
        rows = tuple(self._line(f"L{n}", text) for n, text in enumerate(self.live))
        cursor = None
        if self.cursor is not None:
            cursor = Cursor(min(self.cursor[0], max(0, len(rows) - 1)), self.cursor[1])
        drawing.frame(lines, LiveView(rows, cursor), after=self.after)
        drawing.assert_each_line_once()

    @staticmethod
    def _line(label: str, text: int) -> Line:
        return line(label, TEXTS[text // 2], styled=text % 2 == 1)


SIZES = st.builds(Size, st.sampled_from([1, 2, 3, 7, 20, 21, 25, 40]), st.sampled_from([1, 2, 3, 4, 8, 24]))
TEXT_NUMBERS = st.integers(0, 2 * len(TEXTS) - 1)


def pictures(resize: st.SearchStrategy[Size | None]) -> st.SearchStrategy[list[Picture]]:
    """Some frames in a row."""
    picture = st.builds(
        Picture,
        st.lists(TEXT_NUMBERS, max_size=5),
        st.lists(TEXT_NUMBERS, max_size=9),
        st.none() | st.tuples(st.integers(0, 8), st.integers(0, 45)),
        st.sampled_from([0.05, 0.6]),
        resize,
    )
    return st.lists(picture, min_size=1, max_size=8)


@PROPERTY
@given(SIZES, pictures(st.none()), st.sampled_from(Kind), st.booleans(), st.sampled_from([0, 16]))
def test_every_finished_line_stands_once_and_the_live_rows_once_below(
    size: Size, frames: list[Picture], kind: Kind, by_cluster: bool, colour_level: int
) -> None:
    drawing = Drawing(size, kind, by_cluster=by_cluster, colour_level=colour_level)
    for picture in frames:
        picture.assert_drawn_whole(drawing)
    assert drawing.exact


@PROPERTY
@given(SIZES, pictures(st.none() | SIZES), st.sampled_from(Kind), st.booleans())
def test_resizes_lose_and_double_no_finished_line(
    size: Size, frames: list[Picture], kind: Kind, by_cluster: bool
) -> None:
    drawing = Drawing(size, kind, by_cluster=by_cluster)
    for picture in frames:
        picture.assert_drawn_whole(drawing)


def body(frame: bytes) -> str:
    """What a frame sends within its synchronized update."""
    return frame.decode().removeprefix(SYNC_ON).removesuffix(SYNC_OFF)


def test_an_equal_picture_is_no_bytes_and_a_moved_cursor_only_a_move() -> None:
    """H05"""
    drawing = Drawing(Size(40, 10))
    drawing.frame(live=rows("\u26a0\ufe0f warn", "> abc", cursor=Cursor(1, 5)))
    assert drawing.frame() == b""
    assert body(drawing.frame(live=rows("\u26a0\ufe0f warn", "> abc", cursor=Cursor(1, 4)))) == "\x1b[5G"
    drawing.assert_each_line_once()


def test_only_the_changed_tail_of_a_row_is_written() -> None:
    drawing = Drawing(Size(40, 10))
    drawing.frame(live=rows("some words", "status", cursor=Cursor(1, 0)))
    frame = drawing.frame(live=rows("some words more", "status", cursor=Cursor(1, 0)))
    assert body(frame) == "\x1b[A\x1b[11G more\r\n"
    drawing.assert_each_line_once()


def test_rows_that_only_move_are_not_written_again() -> None:
    drawing = Drawing(Size(40, 10))
    status = "a status line that is long enough"
    drawing.frame(live=rows("one", status))
    drawing.assert_each_line_once()
    more = drawing.frame(live=rows("one", "two", "three", status))
    drawing.assert_each_line_once()
    less = drawing.frame(live=rows("one", status))
    drawing.assert_each_line_once()
    assert status not in body(more) + body(less)


def test_a_finished_line_is_printed_in_full_also_where_it_grew_in_place() -> None:
    """The row may have grown in a wrong place, if the terminal has another size than we know of."""
    drawing = Drawing(Size(40, 10))
    drawing.frame(live=rows("grown in place", "> "))
    frame = drawing.frame([line_of("grown in place")], rows("> "))
    assert "grown in place" in body(frame)
    drawing.assert_each_line_once()


def test_a_finished_line_that_is_blank_holds_no_cell() -> None:
    drawing = Drawing(Size(40, 10))
    drawing.frame(live=rows("tail", "> "))
    frame = drawing.frame([EMPTY, line_of("text")], rows("> "))
    assert "\x1b[J\r\x1b[K\r\ntext" in body(frame)
    drawing.assert_each_line_once()


def test_a_finished_line_wider_than_the_screen_is_left_to_the_terminal_to_wrap() -> None:
    drawing = Drawing(Size(10, 6))
    long = "x" * 35
    drawing.frame([line_of(long)], rows("> "))
    drawing.assert_each_line_once()
    assert drawing.terminal.lines == [long, ">"]


def test_live_rows_that_do_not_fit_lose_their_first_but_never_the_cursors() -> None:
    drawing = Drawing(Size(10, 4))
    many = [f"row {number}" for number in range(8)]
    drawing.frame(live=rows(*many, cursor=Cursor(7, 0)))
    assert drawing.terminal.lines == many[5:]
    drawing.frame(live=rows(*many, cursor=Cursor(2, 3)))
    assert drawing.terminal.lines == many[2:5]
    assert drawing.terminal.cursor == (0, 3)


def test_a_size_that_the_terminal_does_not_know_counts_as_80_by_24() -> None:
    assert usable(Size(0, 0)) == Size(80, 24)
    drawing = Drawing(Size(80, 24))
    drawing.terminal.feed(drawing.canvas.frame([], rows("x" * 100), Size(0, 0), 1.0))
    assert drawing.terminal.lines == ["x" * 80]


def test_a_line_of_its_own_is_found_whether_or_not_something_stands_before_the_cursor() -> None:
    for before, expected in ((b"", 0), (b"left over", 1), (b"x" * 20, 1)):
        terminal = Drawing(Size(20, 5)).terminal
        terminal.feed(before + fresh_line(20))
        assert terminal.cursor == (expected, 0)


def test_three_hundred_lines_taller_than_the_window_all_end_in_the_scrollback() -> None:
    """H01"""
    text = "".join(f"L{number:03}  \n" for number in range(1, 301))
    drawing, stream = Drawing(Size(80, 24)), MarkdownStream(80)
    for start in range(0, len(text), 7):
        lines = stream.feed(text[start : start + 7])
        drawing.frame(lines, LiveView((*stream.tail()[-12:], line_of("> "))), after=0.02)
    drawing.frame(stream.finish(), rows("> "))
    drawing.assert_each_line_once()
    seen = [text for text in drawing.terminal.lines if text.startswith("L")]
    assert seen == [f"L{number:03}" for number in range(1, 301)]


def test_an_unfinished_block_taller_than_the_screen_flashes_nothing() -> None:
    """H02"""
    drawing, stream = Drawing(Size(80, 24)), MarkdownStream(80)
    code = [f"value_{number} = compute({number}, other)" for number in range(90)]
    for piece in ("```python\n", *(text + "\n" for text in code), "```\n"):
        lines = stream.feed(piece)
        drawing.frame(lines, LiveView((*stream.tail()[-12:], line_of("> "))), after=0.02)
        assert max(drawing.terminal.moves_up, default=0) <= 22
    drawing.frame(stream.finish(), rows("> "))
    drawing.assert_each_line_once()
    seen = [text.strip() for text in drawing.terminal.lines]
    assert [seen.count(text) for text in code] == [1] * 90
    assert drawing.sent < 6 * sum(map(len, code))


def test_a_row_is_measured_at_its_widest_so_that_no_terminal_wraps_it() -> None:
    """H05"""
    for by_cluster in (True, False):
        drawing = Drawing(Size(12, 8), by_cluster=by_cluster)
        drawing.frame(
            live=rows("👩\u200d👩\u200d👧 ab \u26a0\ufe0f cd ef", "> \u26a0\ufe0f", cursor=Cursor(1, 4))
        )
        drawing.assert_each_line_once()
        drawing.frame(
            [line_of("\u2139\ufe0f info")],
            rows("👩\u200d👩\u200d👧 xy", "> \u26a0\ufe0f!", cursor=Cursor(1, 5)),
        )
        drawing.assert_each_line_once()
        column = drawing.terminal.column
        assert drawing.terminal.rows[drawing.terminal.cursor.row].cells[column - 1] == "!"


def test_typing_on_a_narrowing_window_goes_on() -> None:
    """H04"""
    drawing = Drawing(Size(80, 24), Kind.VTE)
    drawing.frame(
        [line_of("c0 file | 3 +++--")], rows("• Edit src/cart.ts  +3 -1", "> typed", cursor=Cursor(1, 7))
    )
    for columns in (26, 22, 10):
        drawing.resize(Size(columns, 24))
        drawing.frame()
        drawing.assert_each_line_once()
    drawing.frame(live=rows("> typed on", cursor=Cursor(0, 9)))
    drawing.assert_each_line_once()


def test_the_screens_first_row_is_never_deleted_as_some_terminals_would_keep_it() -> None:
    drawing = Drawing(Size(40, 10))
    status = "a status line that is long enough"
    drawing.frame(live=rows("tail", status))
    drawing.frame(live=rows(status))
    drawing.assert_each_line_once()


def test_behind_a_doubtful_character_the_column_is_not_trusted() -> None:
    for by_cluster in (True, False):
        drawing = Drawing(Size(40, 10), by_cluster=by_cluster)
        drawing.frame(live=rows("> ab", "old", cursor=Cursor(0, 2)))
        drawing.frame(live=rows("> ab", "👩\u200d👩\u200d👧", cursor=Cursor(0, 2)))
        drawing.assert_each_line_once()


def test_a_clock_within_a_row_is_written_alone() -> None:
    drawing = Drawing(Size(40, 10))
    drawing.frame(live=rows("grok · ask · 9 s          Ctrl-C stops", cursor=Cursor(0, 0)))
    frame = drawing.frame(live=rows("grok · ask · 10 s         Ctrl-C stops", cursor=Cursor(0, 0)))
    assert body(frame) == "\x1b[14G10 s\r"
    drawing.assert_each_line_once()


def test_a_tail_that_scrolls_among_rows_that_stay_is_moved_and_not_written_again() -> None:
    text = [f"row {number} of a long paragraph that streams" for number in range(12)]
    drawing = Drawing(Size(60, 20))
    drawing.frame(live=rows("… 3 earlier lines", *text[:8], "", "> ", "status", cursor=Cursor(10, 2)))
    half = text[8][:20]
    frame = drawing.frame(
        live=rows("… 4 earlier lines", *text[1:8], half, "", "> ", "status", cursor=Cursor(10, 2))
    )
    drawing.assert_each_line_once()
    assert half in body(frame) and text[1] not in body(frame) and len(frame) < 100
    frame = drawing.frame(live=rows("… 6 earlier lines", *text[3:11], "", "> ", "status", cursor=Cursor(10, 2)))
    drawing.assert_each_line_once()
    assert text[4] not in body(frame)


def test_a_wide_gap_is_stepped_over_and_nothing_else_of_it_seen() -> None:
    drawing = Drawing(Size(60, 10))
    frame = drawing.frame(live=rows("left" + " " * 30 + "right"))
    assert "left\x1b[30Cright" in body(frame)
    drawing.assert_each_line_once()
