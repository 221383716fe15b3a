"""The streaming renderer: any cut gives the same lines, the cost stays linear, nothing ever breaks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.render.lines import Line, ansi, plain
from grokmini.render.look import Look
from grokmini.render.stream import MarkdownStream
from tests.cost import LINEAR, growth
from tests.render.documents import CORNERS, ODD, WHOLE, pieces_of


def at_once(text: str, width: int = 60, look: Look | None = None) -> list[Line]:
    stream = MarkdownStream(width, look)
    return [*stream.feed(text), *stream.finish()]


def in_pieces(pieces: list[str], width: int = 60, *, look_at_tail: bool = False) -> list[Line]:
    stream = MarkdownStream(width)
    lines: list[Line] = []
    for piece in pieces:
        lines += stream.feed(piece)
        if look_at_tail:
            stream.tail()
    return lines + stream.finish()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("text", [WHOLE, *CORNERS])
def test_a_document_in_pieces_of_any_size_gives_the_lines_of_the_whole(text: str, size: int) -> None:
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    assert in_pieces(pieces, look_at_tail=size == 64) == at_once(text)


@settings(max_examples=25)
@given(st.lists(st.integers(0, 5000), max_size=12), st.booleans())
def test_a_document_cut_anywhere_gives_the_lines_of_the_whole(cuts: list[int], look_at_tail: bool) -> None:
    assert in_pieces(pieces_of(WHOLE, cuts), look_at_tail=look_at_tail) == at_once(WHOLE)


@settings(max_examples=60)
@given(ODD, st.lists(st.integers(0, 200), max_size=6), st.integers(1, 30))
def test_odd_text_cut_anywhere_gives_the_lines_of_the_whole(text: str, cuts: list[int], width: int) -> None:
    lines = in_pieces(pieces_of(text, cuts), width, look_at_tail=True)
    assert lines == at_once(text, width)
    assert all(plain(line).isprintable() or not plain(line).isascii() for line in lines)
    assert not any(c in plain(line) for line in lines for c in "\x1b\r\n\t\u202e\x07")


@settings(max_examples=40)
@given(ODD)
def test_what_was_given_out_is_the_beginning_of_the_whole(text: str) -> None:
    """A cut reply keeps on screen what a complete one would have shown."""
    stream = MarkdownStream(40)
    frozen = stream.feed(text)
    assert at_once(text, 40)[: len(frozen)] == frozen
    assert at_once(text + "\n\nmore\n", 40)[: len(frozen)] == frozen


@settings(max_examples=40)
@given(ODD)
def test_at_a_line_end_tail_is_what_finishing_would_give(text: str) -> None:
    stream = MarkdownStream(40)
    stream.feed(text + "\n")
    assert stream.tail() == stream.finish()


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        ("some text", ["some text"]),
        ("see [half a li", ["see"]),
        ("see [label](http://x", ["see"]),
        ("a trailing \\", ["a trailing"]),
        ("bold **", ["bold"]),
        ("formula \\[ x", ["formula"]),
        ("``", []),
        ("```pyth", []),
        ("-", []),
        ("- item", ["• item"]),
        ("```\ncode", ["code"]),
        ("```\ncode\n``", []),
        ("done `code` here", ["done `code` here"]),
    ],
)
def test_what_is_undecided_is_held_back_and_all_else_is_shown(text: str, tail: list[str]) -> None:
    stream = MarkdownStream(40)
    stream.feed(text)
    assert [plain(line) for line in stream.tail()] == tail


@pytest.mark.parametrize(
    ("text", "frozen"),
    [
        ("para\n", 0),
        ("para\n\n", 1),
        ("# head\n", 1),
        ("```\none\ntwo\n", 2),
        ("- a\n- b\n", 1),
        ("- a\n\n", 0),
        ("- a\n  - nested\n", 0),
        ("- a\n\nnext\n", 1),
        ("<!-- a\n\nb\n", 0),
        ("<!-- a\n\nb -->\n", 3),
        ("| a |\n|---|\n| b |\n", 0),
        ("| a |\n|---|\n| b |\n\n", 3),
        ("> a\n\n", 1),
    ],
)
def test_a_prefix_freezes_as_soon_as_nothing_can_change_it_and_no_sooner(text: str, frozen: int) -> None:
    assert len(MarkdownStream(40).feed(text)) == frozen


def test_the_lines_of_an_open_fence_come_out_one_by_one_with_their_colours() -> None:
    stream = MarkdownStream(80)
    stream.feed('```python\nx = """doc\n')
    (line,) = stream.feed("still doc\n")
    assert ansi(line, 16) == "\x1b[32mstill doc\x1b[0m"


def test_a_long_table_takes_its_widths_from_the_first_rows_and_then_streams() -> None:
    stream = MarkdownStream(60)
    head = stream.feed("| a | b |\n|---|---|\n" + "| x | y |\n" * 200)
    assert len(head) == 202
    later = stream.feed("| longer than that | y |\n")
    assert "".join(plain(line).split("  ")[0] for line in later).startswith("l")
    assert later[0].width <= head[0].width


def test_a_new_width_holds_from_there_on() -> None:
    stream = MarkdownStream(60)
    text = "word " * 10
    assert len(stream.feed(text + "\n\n")) == 1
    stream.resize(20)
    assert [line.width <= 20 for line in stream.feed(text + "\n\n")] == [True] * 4  # the gap and three lines


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 10, 13, 20, 33, 80, 200])
def test_no_prose_is_wider_than_the_screen_at_any_width(width: int) -> None:
    """H04. Code is the exception: it stays whole, for copying."""
    text = WHOLE.replace("```", "").replace("~~~", "").replace("    ", "").replace("  ", "")
    for line in at_once(text, width):
        assert line.width <= max(width, 2)


def stream_whole(text: str, piece: int) -> None:
    stream = MarkdownStream(80)
    for at in range(0, len(text), piece):
        stream.feed(text[at : at + piece])
    stream.finish()


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + "x = 1\n" * 8_000,
        "word **bold** `code` " * 2000,
        "- item with **text**\n" * 1200,
        "- a\n" + "  text\n" * 6000,
        "> quoted\n" * 5000,
        "| a | b |\n|---|---|\n" + "| x | y |\n" * 1200,
    ],
    ids=["fence", "paragraph", "list", "item", "quote", "table"],
)
def test_the_cost_grows_no_faster_than_the_text(text: str) -> None:
    assert growth(lambda size: stream_whole(text[:size], 40), len(text)) < LINEAR


@pytest.mark.parametrize(
    "mark", ["[", "![", "*a ", "`", "<", "\\[", "> ", "- ", "~~", "[a](", "*_", "<!--", "[a]: "]
)
def test_hostile_repetition_costs_little(mark: str) -> None:
    assert growth(lambda size: stream_whole(mark * (size // len(mark)), 400), 16_000) < LINEAR
