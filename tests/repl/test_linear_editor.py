"""The draft in linear mode: what presses make of it, and what is written for it."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.repl.keys import Key, Paste, Press, Text
from grokmini.repl.linear_editor import ENTER_SENDS, LinearEditor

HISTORY = ["newest", "older\nof two lines", "oldest"]


def editor(*, width: int = 80, text: str = "") -> LinearEditor:
    made = LinearEditor("> ", width=width, older=HISTORY)
    made.set(text)
    return made


def press_all(made: LinearEditor, *presses: Press) -> tuple[str, list[str]]:
    """What was written for the presses, and what was submitted."""
    written, submitted = "", []
    for press in presses:
        edit = made.press(press)
        written += edit.echo
        if edit.submitted is not None:
            submitted.append(edit.submitted)
    return written, submitted


DRAFTS: dict[str, tuple[tuple[Press, ...], str]] = {
    "text adds up": ((Text("a"), Text("b")), "ab"),
    "a newline key": ((Text("a"), Key.NEWLINE, Text("b")), "a\nb"),
    "a backslash before Enter": ((Text("a\\"), Key.ENTER, Text("b")), "a\nb"),
    "lines of a burst": ((Text("a"), Key.PASTED_NEWLINE, Text("b"), Key.PASTE_ENDED), "a\nb\n"),
    "Backspace takes a wide character": ((Text("a日"), Key.BACKSPACE), "a"),
    "Backspace takes letter and accent": ((Text("xe\u0301"), Key.BACKSPACE), "x"),
    "an accent that comes later belongs to its letter": ((Text("xe"), Text("\u0301"), Key.BACKSPACE), "x"),
    "Backspace takes a family whole": ((Text("a👩‍👩‍👧"), Key.BACKSPACE), "a"),
    "Backspace takes a newline": ((Text("a"), Key.NEWLINE, Key.BACKSPACE), "a"),
    "Backspace on nothing": ((Key.BACKSPACE,), ""),
    "Ctrl-W takes a word and the blanks behind": ((Text("one two  "), Key.KILL_WORD), "one "),
    "Ctrl-W stops at the line": ((Text("one"), Key.NEWLINE, Text("two"), Key.KILL_WORD), "one\n"),
    "Ctrl-U takes the line": ((Text("one"), Key.NEWLINE, Text("two"), Key.KILL_LINE), "one\n"),
    "Ctrl-U at the beginning of a line joins it": ((Text("one"), Key.NEWLINE, Key.KILL_LINE), "one"),
    "a large paste is one unit": ((Text("a"), Paste("x\n" * 30), Key.BACKSPACE), "a"),
    "Up recalls the newest": ((Key.UP,), "newest"),
    "Up and up": ((Key.UP, Key.UP), "older\nof two lines"),
    "Up stops at the oldest": ((Key.UP,) * 5, "oldest"),
    "Down comes back to the draft": ((Text("mine"), Key.UP, Key.UP, Key.DOWN, Key.DOWN), "mine"),
    "Down without Up": ((Text("mine"), Key.DOWN), "mine"),
    "a changed entry is a draft": ((Key.UP, Text("!"), Key.DOWN), "newest!"),
}


@pytest.mark.parametrize("name", DRAFTS)
def test_presses_make_the_draft(name: str) -> None:
    presses, draft = DRAFTS[name]
    made = editor()
    assert press_all(made, *presses)[1] == []
    assert made.text == draft


def test_enter_submits_and_leaves_an_empty_draft() -> None:
    made = editor()
    assert press_all(made, Text("hi"), Key.ENTER) == ("hi\n", ["hi"])
    assert made.empty


def test_enter_on_blanks_submits_nothing() -> None:
    made = editor()
    assert press_all(made, Text("  "), Key.ENTER)[1] == [""]
    assert made.empty


def test_two_backslashes_before_enter_are_two_backslashes() -> None:
    assert press_all(editor(), Text("a\\\\"), Key.ENTER)[1] == ["a\\\\"]


def test_a_large_paste_shows_as_one_mark_and_is_sent_whole() -> None:
    made = editor()
    body = "\n".join(f"line {n}" for n in range(30))
    written, submitted = press_all(made, Paste(body), Key.ENTER)
    assert submitted == [body]
    assert written.startswith("[pasted, 30 lines, ") and "line 0 line 1" in written
    assert written.count("\n") == 1


def test_a_backslash_at_the_end_of_a_large_paste_does_not_eat_it() -> None:
    body = "x\n" * 30 + "\\"
    assert press_all(editor(), Paste(body), Key.ENTER)[1] == [body]


def test_the_end_of_a_burst_of_lines_says_that_enter_sends() -> None:
    assert editor(text="a").press(Key.PASTE_ENDED).hint == ENTER_SENDS


def test_a_recalled_text_is_shown_on_a_fresh_line() -> None:
    made = editor(text="mine")
    assert made.press(Key.UP).echo == "\n> newest"
    assert made.press(Key.UP).echo == "\n> older\n  of two lines"


def test_a_text_recalled_into_an_empty_draft_is_written_behind_the_prompt() -> None:
    assert editor().press(Key.UP).echo == "newest"


def test_control_and_bidi_characters_are_written_as_visible_marks() -> None:
    made = editor()
    assert made.press(Text("a\u202eb")).echo == "a<U+202E>b"
    assert made.text == "a\u202eb"


PRESSES = st.sampled_from(
    [
        *(Text("a"), Text("bcd"), Text("日"), Text("e\u0301"), Text(" "), Text("\u202e"), Paste("p\nq")),
        *(
            Paste("\t"),
            Key.NEWLINE,
            Key.BACKSPACE,
            Key.BACKSPACE,
            Key.KILL_WORD,
            Key.KILL_LINE,
            Key.UP,
            Key.DOWN,
        ),
    ]
)


def rows_of(written: str, width: int) -> tuple[list[str], int]:
    """The rows that a terminal shows up to the cursor, and the cursor's column."""
    screen = pyte.Screen(width, 200)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(written)
    return [row.rstrip() for row in screen.display[: screen.cursor.y + 1]], min(screen.cursor.x, width - 1)


@given(st.lists(PRESSES, max_size=25), st.sampled_from([7, 8, 20]))
@settings(max_examples=40)
def test_what_is_written_always_shows_the_draft_and_only_moves_forward(
    presses: list[Press], width: int
) -> None:
    made = editor(width=width)
    written = made.shown()
    for press in presses:
        written += made.press(press).echo
        assert not set(written) & {"\x1b", "\r"}
    shown, column = rows_of(written, width)
    fresh, fresh_column = rows_of(made.shown(), width)
    assert column == fresh_column
    assert shown[-len(fresh) :] == fresh
