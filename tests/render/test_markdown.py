"""How each Markdown element looks."""

from __future__ import annotations

import pytest

from grokmini.render.lines import Line, ansi, plain
from grokmini.render.look import Look
from grokmini.render.stream import MarkdownStream


def drawn(text: str, width: int = 40, look: Look | None = None) -> list[Line]:
    stream = MarkdownStream(width, look)
    return [*stream.feed(text), *stream.finish()]


def shown(text: str, width: int = 40, look: Look | None = None) -> list[str]:
    return [plain(line) for line in drawn(text, width, look)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("## Head *it*", ["## Head it"]),
        ("Head\n----", ["## Head"]),
        ("a *b* __c__ `d`", ["a b c `d`"]),
        ("~~old~~ new", ["~~old~~ new"]),
        ("a\nb", ["a b"]),
        ("a  \nb", ["a", "b"]),
        ("a<br>b <b>c</b>", ["a", "b <b>c</b>"]),
        ("[text](http://x.y)", ["text (http://x.y)"]),
        ("[http://x.y](http://x.y) <http://z>", ["http://x.y http://z"]),
        ("[calc.py](calc.py) <me@x.org>", ["calc.py me@x.org"]),
        ("![alt](pic.png)", ["image: alt (pic.png)"]),
        ("[a][r]\n\n[r]: http://x.y", ["[a][r]"]),
        ("[r]: http://x.y\n\n[a][r]", ["a (http://x.y)"]),
        ("> a\n>\n> b", ["> a", ">", "> b"]),
        ("- a\n- b", ["• a", "• b"]),
        ("- a\n\n- b\n", ["• a", "• b"]),
        ("- [ ] a\n- [x] b", ["• [ ] a", "• [x] b"]),
        ("3. a\n4. b", ["3. a", "4. b"]),
        ("1. a\n1. b\n1. c", ["1. a", "2. b", "3. c"]),
        ("1. a\n  - x\n2. b", ["1. a", "  • x", "2. b"]),
        ("1. a\n   - x\n     1. y\n2. b", ["1. a", "   • x", "     1. y", "2. b"]),
        ("- a\n\n  b", ["• a", "", "  b"]),
        ("text\n- a", ["text", "• a"]),
        ("- a\n\ntext", ["• a", "", "text"]),
        ("# a\nb", ["# a", "b"]),
        ("a [^1]\n\n[^1]: note", ["a [^1]", "", "[^1] note"]),
        ("<div>\nx\n</div>", ["<div>", "x", "</div>"]),
        ("a &amp; &lt; &copy; \\* \\_", ["a & < © * _"]),
        ("\\(a_b*c*d\\)", ["$a_b*c*d$"]),
        ("---", ["─" * 24]),
        ("a\n\n\n\nb", ["a", "", "b"]),
        ("```\na\n```\n\n\nb", ["a", "", "b"]),
        ("```a.py\nx\n```", ["x"]),
        ("```5:6:a/b.py\nx\ny\n```", ["a/b.py:5-6", "5  x", "6  y"]),
        ("x\n\n    code", ["x", "", "code"]),
    ],
)
def test_an_element_looks_like_this(text: str, lines: list[str]) -> None:
    assert shown(text) == lines


def test_long_code_lines_stay_whole_and_prose_wraps() -> None:
    long = "x" * 70
    assert shown(f"```\n{long}\n```\nword word {long}", 30) == [
        long,
        "",
        "word word",
        long[:30],
        long[30:60],
        long[60:],
    ]


def test_items_hang_and_wrap_beside_their_mark() -> None:
    assert shown("- one two three four", 12) == ["• one two", "  three four"]
    assert shown("10. one two three", 12) == ["10. one two", "    three"]


def test_a_terminal_without_unicode_gets_ascii_marks() -> None:
    lines = shown("- a\n\n---\n\n|a|b|\n|-|-|\n|1|2|", look=Look(unicode=False))
    assert "".join(lines).isascii()
    assert lines[0] == "* a"


def test_with_hyperlinks_the_address_is_in_the_style_not_in_the_text() -> None:
    (line,) = drawn("[text](http://x.y/a\x07b)", look=Look(links=True))
    assert plain(line) == "text"
    written = ansi(line, 16, links=True)
    assert written.startswith("\x1b]8;;http://x.y/a")
    assert written.endswith("\x1b]8;;\x07")
    assert written.count("\x07") == 2


def test_a_table_is_fitted_to_the_screen_and_wide_characters_line_up() -> None:
    table = "| Name | Wert | 日本語 |\n|:--|--:|:-:|\n| a\\|b | 12 | 日本 |\n| `c` | 3 | x |\n"
    assert shown(table) == [
        "Name  Wert  日本語",
        "────  ────  ──────",
        "a|b     12   日本",
        "`c`      3    x",
    ]


def test_a_wide_table_wraps_its_cells_and_a_hopeless_one_becomes_records() -> None:
    table = "| key | a long heading |\n|---|---|\n| one | some words that have to wrap |\n| two | x |\n"
    assert shown(table, 22) == [
        "key  a long heading",
        "───  ─────────────────",
        "one  some words that",
        "     have to wrap",
        "two  x",
    ]
    assert shown(table, 8) == ["key: one", "a long", "heading:", "some", "words", "that", "have to", "wrap", "",
                               "key: two", "a long", "heading:", "x"]  # fmt: skip


def test_rows_with_too_few_or_too_many_cells_lose_nothing() -> None:
    assert shown("|a|b|\n|-|-|\n|1|\n|1|2|3|")[2:] == ["1", "1  2 | 3"]


def test_a_widening_selector_takes_the_same_cells_everywhere_in_a_table() -> None:
    """H05."""
    lines = drawn("| sign | word |\n|---|---|\n| ⚠\ufe0f warn | `a` |\n| ℹ\ufe0f info | `b` |\n")
    starts = [plain(line).index("`") for line in lines[2:]]
    assert len(set(starts)) == 1


def test_control_sequences_from_the_model_are_shown_and_never_sent() -> None:
    """H09: cut between the escape and what follows it."""
    stream = MarkdownStream(200)
    lines: list[Line] = []
    for piece in (
        "ok\x1b",
        "]52;c;aGk=\x07 a\x1b[2Jb\x1b[5A",
        "c\x1b]8;;http://x.test\x07d\x1b]8;;\x07e\x1bcf",
    ):
        lines += stream.feed(piece)
    lines += stream.finish()
    text = "".join(ansi(line, 16) for line in lines)
    assert text.replace("\x1b[4m", "").replace("\x1b[2m", "").replace("\x1b[0m", "").isprintable()
    at = -1
    for letter in ("ok", " a", "b", "c", "d", "e", "cf"):
        at = plain(lines[0]).index(letter, at + 1)


def test_entities_cannot_smuggle_control_characters() -> None:
    text = "".join(shown("&#27;[2J &#x9b;x &#x202e;y &#10;z"))
    assert text.isprintable()


def test_very_deep_nesting_neither_fails_nor_leaves_the_screen() -> None:
    for text in (
        "> " * 300 + "x",
        "- " * 300 + "x",
        "*" * 3000 + "x" + "*" * 3000,
        "[" * 3000 + "x" + "]" * 3000,
    ):
        assert all(line.width <= 30 for line in drawn(text, 30))
