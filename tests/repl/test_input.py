"""The draft of the inline REPL: what keys do to it, and what they ask of the program."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from prompt_toolkit.input.ansi_escape_sequences import ANSI_SEQUENCES

from grokmini.repl.input import CLIPBOARD_EMPTY, ENTER_SENDS
from grokmini.repl.input_actions import Action, Hint, OpenEditor, Signal, Submit
from grokmini.repl.keys import Key
from tests.repl.draft import BACKSPACE, DOWN, ENTER, ESCAPE, LEFT, RIGHT, TAB, UNDO, UP, Typist, pasted

LONG = "\n".join(f"line {number}" for number in range(34))


@pytest.mark.parametrize(
    ("bursts", "sent"),
    [
        ((b"hello", b"\r"), "hello"),
        ((b"hello\r",), "hello"),
        ((b"a\nb", b"\r"), "a\nb"),
        ((b"a", b"\x1b\r", b"b", b"\r"), "a\nb"),
        ((b"a", b"\x1b[13;2u", b"b", b"\r"), "a\nb"),
        ((b"a", b"\x1b[27;2;13~", b"b", b"\r"), "a\nb"),
        ((b"a\\", b"\r", b"b", b"\r"), "a\nb"),
        ((b"a\\\\", b"\r"), "a\\\\"),
        ((b"a\\", LEFT, b"\r"), "a\\"),
        ((b"ac", LEFT, b"b", b"\r"), "abc"),
        ((b"bc", b"\x01", b"a", b"\x05", b"d", b"\r"), "abcd"),
        ((b"bc", b"\x1b[H", b"a", b"\x1b[F", b"d", b"\r"), "abcd"),
        ((b"one three", b"\x1bb", b"two ", b"\r"), "one two three"),
        ((b"one three", b"\x1b[1;5D", b"two ", b"\r"), "one two three"),
        ((b"one three", b"\x1b[1;3D", b"two ", b"\r"), "one two three"),
        ((b"one two", b"\x17", b"\x19", b"\x19", b"\r"), "one twotwo"),
        ((b"one-two", b"\x1b\x7f", b"\r"), "one-"),
        ((b"one", b"\x15", b"two", b"\r"), "two"),
        ((b"ab", LEFT, b"\x04", b"\r"), "a"),
        ((b"ab", b"\x14", b"\r"), "ba"),
        ((b"abc", b"\x1bq", b"\r"), "abc"),
        ((b"ab", b"\x1b[99;99~", b"\r"), "ab"),
        ((b"abc", b"\x1b[1;2D", b"x", b"\r"), "abx"),
        ((b"abc", b"\x1b[1;2D", pasted("x"), b"\r"), "abx"),
        ((b"one", b"\x1f", b"two", b"\r"), "two"),
        ((b"one", LEFT, b"x", UNDO, b"\r"), "one"),
        ((pasted("one\r\ntwo\rthree\n"), b"\r"), "one\ntwo\nthree\n"),
        ((b"one\rtwo\r", b"\r"), "one\ntwo\n"),
        (("日本語".encode(), LEFT, BACKSPACE, b"\r"), "日語"),
        (("ae\u0301".encode(), BACKSPACE, b"\r"), "a"),
        (("a👩‍👩‍👧b".encode(), LEFT, LEFT, b"x", b"\r"), "ax👩‍👩‍👧b"),
        (("a👩‍👩‍👧b".encode(), b"\x01", RIGHT, b"\x04", b"\r"), "ab"),
        ((b"e", "\u0301x".encode(), LEFT, LEFT, BACKSPACE, b"\r"), "e\u0301x"),
    ],
)
def test_a_message_is_written_and_sent_once(bursts: tuple[bytes, ...], sent: str) -> None:
    typist = Typist()
    assert typist.sends(*bursts) == [sent]
    assert typist.draft == ""


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        (b"\x03", Signal.INTERRUPT),
        (b"\x1b", Signal.ESCAPE),
        (b"\x04", Signal.END_OF_FILE),
        (b"\x1a", Signal.SUSPEND),
        (b"\x0c", Signal.REDRAW),
        (b"\x1b[Z", Signal.NEXT_MODE),
        (b"\x0f", Signal.TRANSCRIPT),
        (b"\x02", Signal.BACKGROUND),
        (b"\x16", Signal.PASTE),
        (b"\r", Signal.EMPTY_ENTER),
        (b"\x07", OpenEditor("")),
        (b"\x18\x05", OpenEditor("")),
    ],
)
def test_keys_that_are_not_the_drafts_are_asked_of_the_program(typed: bytes, asked: Action) -> None:
    assert Typist().type(typed) == [asked]


def test_a_paste_that_comes_byte_by_byte_with_enter_right_behind_is_one_paste_and_one_message() -> None:
    typist = Typist()
    text = "\n".join(f"line {number}" for number in range(30))
    data = pasted(text) + ENTER
    assert typist.type(data, cut=[1] * len(data)) == [Submit(text)]


def test_answers_of_the_terminal_never_become_text() -> None:
    typist = Typist()
    answers = b"\x1b[?62;22c\x1b[24;80R\x1b[I\x1b]11;rgb:0/0/0\x07\x1bP1$r0m\x1b\\\x1b[?2026;2$y"
    assert typist.type(b"a" + answers + b"b", cut=[1] * 100) == []
    assert typist.draft == "ab"


def test_with_a_draft_ctrl_b_moves_and_ctrl_d_deletes() -> None:
    typist = Typist()
    assert typist.type("ab", b"\x02", b"\x04") == []
    assert typist.draft == "a"


def test_ctrl_c_never_stays_in_something_open() -> None:
    for before in (b"/", b"\x12", b"\x18", b"\x1b5"):
        assert Typist().type(before, b"\x03") == [Signal.INTERRUPT]


def test_a_draft_of_blanks_is_nothing_to_send() -> None:
    typist = Typist()
    assert typist.type("  ", ENTER) == [Signal.EMPTY_ENTER]
    assert typist.draft == ""


def test_dropping_the_draft_keeps_it_for_up() -> None:
    typist = Typist()
    typist.type("draft")
    assert typist.input.interrupt()
    assert typist.draft == ""
    assert not typist.input.interrupt()
    typist.type(UP)
    assert typist.draft == "draft"


def test_up_and_down_move_inside_the_draft_and_into_the_history_at_its_edges() -> None:
    typist = Typist(sent=["old", "new"])
    typist.type("one\ntwo", UP, "X")
    assert typist.draft == "oneX\ntwo"
    typist.type(UP)
    assert typist.draft == "new"
    typist.type(UP, UP)
    assert typist.draft == "old"
    typist.type(DOWN, DOWN)
    assert typist.draft == "oneX\ntwo"


def test_up_goes_by_the_rows_on_the_screen_and_keeps_its_column() -> None:
    typist = Typist(sent=["old"])
    typist.view(width=13)
    typist.type("0123456789abcdefghij!" + "\nxy")
    assert typist.rows(13) == ["› 0123456789", "  abcdefghij", "  !", "  xy"]
    typist.type(LEFT, RIGHT, UP, UP, UP)
    assert typist.view(13).cursor == (0, 4)
    typist.type(DOWN, DOWN, DOWN, "z")
    assert typist.draft.endswith("\nxyz")


def test_a_recalled_text_of_many_lines_does_not_hold_up_going_through_the_history() -> None:
    typist = Typist(sent=["oldest", "a\nb\nc"])
    typist.type(UP, UP)
    assert typist.draft == "oldest"
    typist.type(DOWN, LEFT, UP, "x")
    assert typist.draft == "a\nxb\nc"


def test_history_search_finds_shows_and_takes_a_text() -> None:
    typist = Typist(sent=["fix the calc", "run it", "calc again"])
    typist.type("draft", b"\x12")
    assert typist.rows(width=80) == ["› draft", "search:   Ctrl-R older · Enter takes it · Esc leaves"]
    assert typist.rows(width=40) == ["› draft", "search: "]
    assert typist.view().cursor == (1, 8)
    typist.type("CALC")
    assert typist.rows() == ["› calc again", "search: CALC"]
    assert typist.view().cursor == (1, 12)
    typist.type(b"\x12")
    assert typist.rows()[0] == "› fix the calc"
    typist.type(b"\x13")
    assert typist.rows()[0] == "› calc again"
    assert typist.type(ENTER) == []
    assert typist.draft == "calc again"
    assert typist.sends(ENTER) == ["calc again"]


def test_history_search_goes_on_to_what_has_all_the_words() -> None:
    typist = Typist(sent=["calx", "cat", "dog"])
    typist.type(b"\x12", "ca")
    assert typist.rows()[0] == "› cat"
    typist.type("l")
    assert typist.rows()[0] == "› calx"


def test_what_is_typed_without_another_key_is_undone_together() -> None:
    typist = Typist()
    typist.type("a", "b", LEFT, RIGHT, "c", "d", UNDO)
    assert typist.draft == "ab"
    typist.type(UNDO)
    assert typist.draft == ""


def test_history_search_that_is_left_keeps_the_draft() -> None:
    for leave in (ESCAPE, b"\x07"):
        typist = Typist(sent=["other"])
        assert typist.type("draft", b"\x12", "oth", leave) == []
        assert typist.draft == "draft"
    typist.type(b"\x12", "oth")
    assert typist.input.interrupt()
    assert typist.draft == "draft"


def test_history_search_says_what_it_does_not_find() -> None:
    typist = Typist(sent=["other"])
    typist.type("draft", b"\x12", "otherx")
    assert typist.rows(80) == ["› draft", "search: otherx  nothing that was sent has this"]
    typist.type(BACKSPACE)
    assert typist.rows() == ["› other", "search: other"]
    assert isinstance(typist.type(b"\x12")[0], Hint)
    typist.type(LEFT, "!")
    assert typist.draft == "othe!r"


def test_a_large_paste_is_one_unit_and_is_sent_in_full() -> None:
    typist = Typist()
    typist.type("look: ", pasted(LONG), " ok")
    assert typist.rows(80) == ["› look: [paste 34 lines: line 0 line 1 line 2 line 3 l…] ok"]
    typist.type(LEFT, LEFT, LEFT, LEFT)
    assert typist.view(80).cursor == (0, 8)
    assert typist.menu() == ["Tab opens it · Backspace removes it"]
    assert typist.sends(ENTER) == [f"look: {LONG} ok"]


def test_a_large_paste_is_deleted_by_one_key_and_comes_back_by_undo() -> None:
    typist = Typist()
    typist.type("a", pasted(LONG), BACKSPACE)
    assert typist.draft == "a"
    typist.type(UNDO)
    assert typist.draft == "a" + LONG


def test_a_large_paste_is_opened_for_editing_and_folded_again_by_undo() -> None:
    typist = Typist()
    typist.type(pasted(LONG), TAB, "X")
    assert typist.draft == "X" + LONG
    assert len(typist.rows(rows=10)) == 10
    typist.type(UNDO, UNDO)
    assert len(typist.rows()) == 1


def test_the_same_large_paste_twice_is_two_units() -> None:
    typist = Typist()
    typist.type(pasted(LONG), pasted(LONG), BACKSPACE)
    assert typist.draft == LONG


@pytest.mark.parametrize(("size", "folded"), [(4_000, False), (4_001, True)])
def test_a_paste_of_many_characters_is_large(size: int, folded: bool) -> None:
    typist = Typist()
    typist.type(pasted("x" * size))
    assert typist.rows()[0].startswith("› [paste 4001 characters: ") == folded


@pytest.mark.parametrize(("lines", "folded"), [(20, False), (21, True)])
def test_a_paste_of_many_lines_is_large(lines: int, folded: bool) -> None:
    typist = Typist()
    typist.type(pasted("x\n" * lines))
    assert typist.rows()[0].startswith("› [paste 21 lines: ") == folded


def test_a_large_burst_without_marks_folds_and_does_not_send() -> None:
    typist = Typist()
    typist.type("look: ")
    assert typist.type(LONG.replace("\n", "\r") + "\r") == [Hint(ENTER_SENDS)]
    assert typist.rows(80)[0].startswith("› look: [paste 34 lines: line 0")
    assert typist.sends(ENTER) == [f"look: {LONG}\n"]


def test_text_that_looks_like_a_chip_is_none() -> None:
    typist = Typist()
    typist.input.set_text("a\ud800b")
    assert typist.draft == "a\ufffdb"


def test_the_editor_gets_the_whole_text_and_its_result_becomes_the_draft() -> None:
    typist = Typist()
    typist.type("see ", pasted(LONG))
    assert typist.type(b"\x07") == [OpenEditor(f"see {LONG}")]
    typist.input.edited(f"look at\n{LONG}\n")
    assert typist.rows(80)[1].startswith("  [paste 34 lines")
    assert typist.draft == f"look at\n{LONG}"
    typist.input.edited("")
    assert typist.input.empty
    typist.type(UNDO)
    assert typist.draft == f"look at\n{LONG}"


def test_an_empty_clipboard_says_so_and_leaves_the_draft() -> None:
    typist = Typist()
    typist.type("draft")
    assert typist.input.insert("") == [Hint(CLIPBOARD_EMPTY)]
    assert typist.draft == "draft"
    assert Hint(CLIPBOARD_EMPTY) not in typist.input.insert(" a\r\nb\x1b")
    assert typist.draft == "draft a\nb"


def test_a_sent_large_text_that_is_recalled_is_folded_again() -> None:
    typist = Typist()
    typist.type(pasted(LONG), ENTER)
    typist.history.remember(LONG)
    typist.type(UP)
    assert len(typist.rows()) == 1
    assert typist.draft == LONG


@pytest.mark.parametrize(
    ("bursts", "draft"),
    [
        ((b"one two", ESCAPE, b"bdw"), "one "),
        ((b"one two", ESCAPE, b"bdwu"), "one two"),
        ((b"one two", ESCAPE, b"bdwu", b"\x12"), "one "),
        ((b"one", ESCAPE, b"xi!"), "o!n"),
        ((b"one\ntwo", ESCAPE, b"kx"), "on\ntwo"),
        ((b"one", ESCAPE, b"d", ESCAPE, b"ix"), "onxe"),
        ((ESCAPE, b"k"), "sent"),
        ((b"one", ESCAPE, pasted("dd")), "ondde"),
        (("日本👩‍👩‍👧".encode(), ESCAPE, b"x"), "日本"),
    ],
)
def test_vi_mode(bursts: tuple[bytes, ...], draft: str) -> None:
    typist = Typist(vi=True, sent=["sent"])
    typist.type(*bursts)
    assert typist.draft == draft


def test_in_vi_mode_esc_leaves_inserting_before_it_asks_anything() -> None:
    typist = Typist(vi=True)
    assert typist.type(ESCAPE) == [Signal.ESCAPE]
    assert typist.input.commanding
    typist.type("idraft")
    assert typist.type(ESCAPE) == []
    assert typist.type("d", ESCAPE) == []
    assert typist.type(ESCAPE) == [Signal.ESCAPE]
    assert typist.sends(ENTER) == ["draft"]
    assert not typist.input.commanding


@pytest.mark.parametrize("vi", [False, True])
async def test_no_key_fails_or_sends_whatever_comes_before_it(vi: bool) -> None:
    typist = Typist(vi=vi, sent=["sent before"])
    keys = [raw.encode() for raw in ANSI_SEQUENCES]
    keys += [b"\x1b" + bytes((byte,)) for byte in range(0x20, 0x7F)]
    keys = [key for key in keys if Key.ENTER not in Typist.presses(key)]
    for prefix in (b"", b"\x18", b"\x1b5", ESCAPE, b"\x1b[1;2D", b"d", b"ia"):
        for key in keys:
            actions = typist.type("some words\nhere", prefix, key)
            assert not any(isinstance(action, Submit) for action in actions)
            typist.view(20)
            typist.input.clear()


PIECES = st.sampled_from(
    [
        *(
            b"a",
            b"b c",
            b"\\",
            b"\r",
            b"\n",
            b"\r\n",
            b"\t",
            b"\x7f",
            "é日\u0301👩‍👩‍👧".encode(),
            b"/mo",
            b"@c",
            b"!l",
        ),
        *(
            LEFT,
            RIGHT,
            UP,
            DOWN,
            b"\x1b[13;2u",
            b"\x1b\r",
            b"\x1bb",
            b"\x1bd",
            b"\x17",
            b"\x19",
            b"\x1f",
            b"\x01",
        ),
        *(b"\x12", b"\x1b[200~", b"\x1b[201~", b"\x1b]0;t\x07", b"\x1b[?62c", b"\x1b[I", b"\x1b[1;2D", b"\x1b"),
        *(b"x\r" * 25, pasted("y\n" * 30), b"\x18", b"\x07", b"\x1b5"),
    ]
)


@given(st.lists(PIECES, max_size=10), st.lists(st.integers(1, 9), max_size=40), st.booleans())
@settings(max_examples=40)
def test_any_cut_of_the_bytes_gives_the_same_draft_and_actions(
    pieces: list[bytes], cuts: list[int], vi: bool
) -> None:
    data = b"".join(pieces)
    whole, cut = Typist(vi=vi, sent=["sent", "cut\ntwo"]), Typist(vi=vi, sent=["sent", "cut\ntwo"])
    for typist in (whole, cut):
        typist.view(20)
    assert whole.type(data) == cut.type(data, cut=cuts)
    assert whole.draft == cut.draft
    assert whole.view(20) == cut.view(20)
    assert whole.type(UNDO) == cut.type(UNDO)
    assert whole.draft == cut.draft
