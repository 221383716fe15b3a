"""Bytes become presses, whatever the pieces they arrive in."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.repl.decoder import (
    BURST_GAP,
    ESCAPE_GAP,
    LOST_PASTE_GAP,
    PASTE_GAP,
    KeyDecoder,
)
from grokmini.repl.keys import Burst, Chord, Key, Paste, Press, Text


def merged(presses: Iterable[Press]) -> list[Press]:
    """Neighbouring pieces of text put together: where text is cut means nothing."""
    result: list[Press] = []
    for press in presses:
        if isinstance(press, Text) and result and isinstance(result[-1], Text):
            result[-1] = Text(result[-1].text + press.text)
        else:
            result.append(press)
    return result


def typed(*bursts: bytes, cut: int | None = None) -> list[Press]:
    """The presses of bursts with long silences between them; each burst in pieces of `cut` bytes."""
    decoder = KeyDecoder()
    presses: list[Press] = []
    for burst in bursts:
        step = cut or max(1, len(burst))
        for start in range(0, len(burst), step):
            presses += decoder.feed(burst[start : start + step])
        presses += decoder.silence(BURST_GAP)
        presses += decoder.silence(LOST_PASTE_GAP)
    return merged(presses)


CASES: dict[str, tuple[tuple[bytes, ...], list[Press]]] = {
    "typed text and Enter": ((b"h", b"i", b"\r"), [Text("hi"), Key.ENTER]),
    "a line in one burst is sent by its CR": ((b"hi\r",), [Text("hi"), Key.ENTER]),
    "a line with CR LF in one burst": ((b"hi\r\n",), [Text("hi"), Key.ENTER]),
    "Ctrl-J is a newline, also before an Enter of the same burst": (
        (b"a\nb\r",),
        [Text("a"), Key.NEWLINE, Text("b"), Key.ENTER],
    ),
    "Alt-Enter": ((b"a", b"\x1b\r", b"b"), [Text("a"), Key.NEWLINE, Text("b")]),
    "Alt-Enter as ESC LF": ((b"\x1b\n",), [Key.NEWLINE]),
    "Shift-Enter of the Kitty protocol": ((b"\x1b[13;2u",), [Key.NEWLINE]),
    "Shift-Enter of modifyOtherKeys": ((b"\x1b[27;2;13~",), [Key.NEWLINE]),
    "plain Enter of the Kitty protocol": ((b"\x1b[13u",), [Key.ENTER]),
    "Ctrl-C of the Kitty protocol": ((b"\x1b[99;5u",), [Key.INTERRUPT]),
    "a code point that cannot be": ((b"\x1b[99999999;5u",), []),
    "a paste without marks: its last line end does not send": (
        (b"one\rtwo\r",),
        [Text("one"), Key.PASTED_NEWLINE, Text("two"), Key.PASTE_ENDED],
    ),
    "a paste of CR LF lines without marks": (
        (b"one\r\ntwo\r\n",),
        [Text("one"), Key.PASTED_NEWLINE, Text("two"), Key.PASTE_ENDED],
    ),
    "an empty line in a paste without marks": (
        (b"one\r\rtwo",),
        [Text("one"), Key.PASTED_NEWLINE, Key.PASTED_NEWLINE, Text("two")],
    ),
    "a tab inside a burst is text": ((b"a\tb",), [Text("a\tb")]),
    "a tab at the end is the key": ((b"/he\t",), [Text("/he"), Key.TAB]),
    "Ctrl-C behind a line end is no more text": ((b"hi\r\x03",), [Text("hi"), Key.ENTER, Key.INTERRUPT]),
    "a lone ESC": ((b"\x1b",), [Key.ESCAPE]),
    "two ESCs": ((b"\x1b", b"\x1b"), [Key.ESCAPE, Key.ESCAPE]),
    "arrow up, both forms": ((b"\x1b[A", b"\x1bOA"), [Key.UP, Key.UP]),
    "arrow down, both forms": ((b"\x1b[B\x1bOB",), [Key.DOWN, Key.DOWN]),
    "Ctrl-P and Ctrl-N": ((b"\x10\x0e",), [Key.UP, Key.DOWN]),
    "Shift-Tab": ((b"\x1b[Z",), [Key.SHIFT_TAB]),
    "Alt-Backspace": ((b"\x1b\x7f",), [Key.KILL_PART]),
    "arrows left and right are for the full editor": (
        (b"\x1b[C\x1bOD\x1b[1;5Cx",),
        [Chord("\x1b[C"), Chord("\x1bOD"), Chord("\x1b[1;5C"), Text("x")],
    ),
    "Alt and a letter": ((b"\x1bbx",), [Chord("\x1bb"), Text("x")]),
    "Ctrl-A in three encodings": (
        (b"\x01\x1b[97;5u\x1b[27;5;97~",),
        [Chord("\x01"), Chord("\x01"), Chord("\x01")],
    ),
    "Alt and a letter of the Kitty protocol": ((b"\x1b[98;3u",), [Chord("\x1bb")]),
    "a letter of the Kitty protocol": ((b"\x1b[233u",), [Text("é")]),
    "F1 of the Linux console": ((b"\x1b[[Ax",), [Chord("\x1b[[A"), Text("x")]),
    "F3 is no cursor report when it comes as SS3": ((b"\x1bOR",), [Chord("\x1bOR")]),
    "reports of modes, windows, status and the keyboard": (
        (b"\x1b[?2026;2$y\x1b[4;1$y\x1b[8;24;80t\x1b[0n\x1b[?1u\x1b[>41;354;0cx",),
        [Text("x")],
    ),
    "the mouse, if someone turned it on": ((b"\x1b[<0;10;10M\x1b[<0;10;10mx",), [Text("x")]),
    "device attributes": ((b"\x1b[?64;1;2cx",), [Text("x")]),
    "a cursor report": ((b"\x1b[12;40Rx",), [Text("x")]),
    "focus": ((b"\x1b[Ix\x1b[O",), [Text("x")]),
    "a colour answer ended by BEL": ((b"\x1b]11;rgb:0000/0000/0000\x07x",), [Text("x")]),
    "a colour answer ended by ST": ((b"\x1b]11;rgb:0000/0000/0000\x1b\\x",), [Text("x")]),
    "a device control answer": ((b"\x1bP1+r544e=78\x1b\\x",), [Text("x")]),
    "an answer that never ends loses no later key": ((b"\x1b]11;rgb", b"x"), [Text("x")]),
    "Ctrl-C inside an answer that never ends": ((b"\x1b]11;\x03",), [Key.INTERRUPT]),
    "a cut sequence means nothing": ((b"\x1b[1;", b"x"), [Text("x")]),
    "Ctrl-C inside a cut sequence": ((b"\x1b[1;\x03",), [Key.INTERRUPT]),
    "ESC and then a character that is no ASCII": (("\x1bé".encode(),), [Key.ESCAPE, Text("é")]),
    "wide and combined characters": (("日本語e\u0301".encode(),), [Text("日本語e\u0301")]),
    "bytes that are no UTF-8": ((b"a\xffb",), [Text("a\ufffdb")]),
    "a character cut by a key": ((b"\xe6\x97\r",), [Text("\ufffd"), Key.ENTER]),
    "C1 controls do not get through": (("a\u009bb".encode(),), [Text("ab")]),
    "editing keys": (
        (b"\x7f\x08\x15\x17\x12\x0c\x04\x1a",),
        [
            Key.BACKSPACE,
            Key.BACKSPACE,
            Key.KILL_LINE,
            Key.KILL_WORD,
            Key.SEARCH,
            Key.REDRAW,
            Key.END_OF_FILE,
            Key.SUSPEND,
        ],
    ),
    "a paste between marks with mixed line ends": (
        (b"\x1b[200~one\ntwo\r\nthree\rfour\n\x1b[201~\r",),
        [Paste("one\ntwo\nthree\nfour\n"), Key.ENTER],
    ),
    "a paste between marks loses its control characters": (
        (b"\x1b[200~a\x1b[2J\x03\tb\x1b[201~",),
        [Paste("a[2J\tb")],
    ),
    "an empty paste": ((b"\x1b[200~\x1b[201~x",), [Text("x")]),
    "a paste whose end mark is lost": ((b"\x1b[200~abc", b"\x03"), [Paste("abc"), Key.INTERRUPT]),
}


@pytest.mark.parametrize("name", CASES)
def test_bytes_become_the_presses_that_a_person_meant(name: str) -> None:
    bursts, presses = CASES[name]
    assert typed(*bursts) == presses


@pytest.mark.parametrize("name", CASES)
def test_one_byte_at_a_time_gives_the_same_presses(name: str) -> None:
    bursts, presses = CASES[name]
    assert typed(*bursts, cut=1) == presses


PIECES = st.sampled_from(
    [
        *(b"a", b"b c", b"\r", b"\n", b"\r\n", b"\t", b"\x03", b"\x7f", b"\xff", b"\xe6", "é日\u0301".encode()),
        *(b"\x1b", b"\x1b[A", b"\x1b[13;2u", b"\x1b\r", b"\x1b[200~", b"\x1b[201~", b"\x1b]0;t\x07", b"\x1b["),
    ]
)


@given(st.lists(PIECES, max_size=12), st.lists(st.integers(1, 5), min_size=1, max_size=8))
@settings(max_examples=200)
def test_any_cut_of_one_burst_gives_the_same_presses(pieces: list[bytes], cuts: list[int]) -> None:
    data = b"".join(pieces)
    decoder = KeyDecoder()
    presses: list[Press] = []
    place = turn = 0
    while place < len(data):
        step = cuts[turn % len(cuts)]
        presses += decoder.feed(data[place : place + step])
        place, turn = place + step, turn + 1
    for seconds in (BURST_GAP, LOST_PASTE_GAP):
        presses += decoder.silence(seconds)
    assert merged(presses) == typed(data)


def test_text_is_shown_before_its_line_end_is_decided() -> None:
    decoder = KeyDecoder()
    assert decoder.feed(b"hi\r") == [Text("hi")]
    assert decoder.wake_in == BURST_GAP
    assert decoder.silence(BURST_GAP) == [Key.ENTER]
    assert decoder.wake_in is None


def test_a_sequence_may_come_in_pieces_less_than_fifty_milliseconds_apart() -> None:
    decoder = KeyDecoder()
    for piece in (b"\x1b", b"["):
        assert decoder.feed(piece) == []
        assert decoder.silence(ESCAPE_GAP - 0.001) == []
        assert decoder.wake_in == ESCAPE_GAP
    assert decoder.feed(b"A") == [Key.UP]


def test_lines_that_follow_a_burst_of_lines_soon_belong_to_it() -> None:
    decoder = KeyDecoder()
    decoder.feed(b"one\rtwo\r")
    assert decoder.silence(BURST_GAP) == [Key.PASTE_ENDED]
    decoder.feed(b"three\r")
    assert decoder.silence(BURST_GAP) == [Key.PASTE_ENDED]
    assert decoder.wake_in == PASTE_GAP
    decoder.silence(PASTE_GAP)
    decoder.feed(b"\r")
    assert decoder.silence(BURST_GAP) == [Key.ENTER]


def test_a_line_feed_typed_before_raw_mode_is_enter() -> None:
    decoder = KeyDecoder()
    assert merged(decoder.feed_typed_ahead(b"one\ntwo\nthr")) == [
        Text("one"),
        Key.ENTER,
        Text("two"),
        Key.ENTER,
        Text("thr"),
    ]


def test_a_paste_typed_before_raw_mode_stays_whole() -> None:
    decoder = KeyDecoder()
    assert decoder.feed_typed_ahead(b"\x1b[200~a\nb\x1b[201~\n") == [Paste("a\nb"), Key.ENTER]


def test_a_large_burst_of_lines_is_named_when_it_has_ended() -> None:
    text = "\n".join(f"line {number}" for number in range(30))
    data = text.replace("\n", "\r").encode()
    assert typed(data)[-1] == typed(data, cut=7)[-1] == Burst(text)


def test_a_large_burst_of_lines_is_named_before_the_key_that_ends_it() -> None:
    decoder = KeyDecoder()
    decoder.feed(b"x")
    decoder.silence(BURST_GAP)
    presses = decoder.feed(b"one\r" * 30 + b"two")
    presses += decoder.silence(BURST_GAP)
    assert not any(isinstance(press, Burst) for press in presses)
    assert decoder.feed(b"\x7f") == [Burst("one\n" * 30 + "two"), Key.BACKSPACE]


def test_what_is_typed_slowly_is_no_burst_however_long() -> None:
    decoder = KeyDecoder()
    presses: list[Press] = []
    for _ in range(30):
        presses += decoder.feed(b"a" * 500) + decoder.silence(BURST_GAP)
    assert merged(presses) == [Text("a" * 15_000)]


def test_an_endless_answer_of_the_terminal_is_given_up() -> None:
    decoder = KeyDecoder()
    presses = decoder.feed(b"\x1b]11;" + b"z" * 400)
    assert merged(presses) == [Text("z" * (400 - 251))]
