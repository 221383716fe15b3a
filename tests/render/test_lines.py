"""Styled lines and their two ways out."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.render.lines import EMPTY, PLAIN, Line, Span, Style, ansi, indented, join_spans, line_of, plain
from grokmini.render.spans import hanging, wrap_spans
from grokmini.text.wrap import wrap_text

RED = Style(colour="red")


@settings(max_examples=100)
@given(st.text(st.characters(codec=None)))
def test_no_span_can_hold_what_drives_a_terminal(text: str) -> None:
    span = Span(text)
    assert not any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in span.text)
    assert Span(span.text) == span


def test_without_colours_a_line_is_written_without_any_escape() -> None:
    line = Line((Span("a", Style(bold=True, colour="red", link="http://x")), Span("b")))
    assert ansi(line, 0, links=True) == plain(line) == "ab"


def test_styles_are_written_as_attributes_and_one_of_sixteen_colours() -> None:
    assert ansi(line_of("a", Style(bold=True, strike=True, colour="bright_blue")), 16) == "\x1b[1;9;94ma\x1b[0m"
    assert ansi(line_of("a", RED), 16_777_216) == "\x1b[31ma\x1b[0m"
    assert ansi(line_of("a"), 16) == "a"


def test_a_hyperlink_is_closed_and_its_address_cannot_end_it_early() -> None:
    written = ansi(line_of("a", Style(link="http://x\x1b\\\x07y é")), 16, links=True)
    assert written == "\x1b]8;;http://x\\y\x07a\x1b]8;;\x07"


def test_a_style_over_another_adds_up() -> None:
    assert RED.over(Style(bold=True, colour="blue", link="l")) == Style(bold=True, colour="red", link="l")
    assert RED.over(PLAIN) is RED


def test_neighbours_of_one_style_are_one_span() -> None:
    spans = join_spans([Span("a"), Span(""), Span("b"), Span("c", RED)])
    assert spans == (Span("ab"), Span("c", RED))


def test_marks_go_before_lines_and_leave_no_blanks_on_empty_ones() -> None:
    lines = indented([line_of("a"), EMPTY, line_of("b")], Span("> "), Span("  "))
    assert [plain(line) for line in lines] == ["> a", "", "  b"]


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["a", "bc ", " ", "日本", "dddddddd", "é"]), max_size=12), st.integers(1, 12))
def test_styled_text_wraps_as_plain_text_does_and_keeps_its_styles(parts: list[str], width: int) -> None:
    spans = [Span(part, RED if index % 2 else PLAIN) for index, part in enumerate(parts)]
    lines = wrap_spans(spans, width)
    assert [plain(line) for line in lines] == wrap_text("".join(parts), width)
    red = "".join(span.text for line in lines for span in line.spans if span.style == RED)
    assert red.replace(" ", "") == "".join(parts[1::2]).replace(" ", "")


def test_beside_a_mark_that_leaves_no_room_the_block_takes_the_whole_width() -> None:
    lines = hanging(lambda width: wrap_spans((Span("abcdef"),), width), Span("10. "), 6)
    assert [plain(line) for line in lines] == ["10.", "abcdef"]
