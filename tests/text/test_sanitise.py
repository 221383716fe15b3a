"""The guard between outside text and the terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.text.sanitise import sanitise, strip_ansi

ATTACK = "ok\x1b]52;c;aGk=\x07 a\x1b[2Jb\x1b[5Ac\x1b]8;;http://x.test\x07d\x1b]8;;\x07e\x1bcf"


def test_control_sequences_become_visible_and_the_text_stays() -> None:
    """H09."""
    shown = sanitise(ATTACK)
    assert shown.isprintable()
    assert shown == ("ok␛]52;c;aGk=␇ a␛[2Jb␛[5Ac␛]8;;http://x.test␇d␛]8;;␇e␛cf")


def test_every_control_and_format_character_is_marked_except_those_that_scripts_need() -> None:
    left = [
        chr(code)
        for code in (*range(0x2000), *range(0xD800, 0xE000))
        if unicodedata.category(chr(code)) in ("Cc", "Cs") and sanitise(chr(code)) == chr(code)
    ]
    assert left == ["\t", "\n"]
    for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x200E, 0xFEFF, 0xE0041, 0x2028):
        assert sanitise(chr(code)) == f"<U+{code:04X}>"
    assert sanitise("👨\u200d👩 क्\u200dष ⚠\ufe0f") == "👨\u200d👩 क्\u200dष ⚠\ufe0f"


@settings(max_examples=80)
@given(st.text(st.characters(codec=None)), st.integers(0, 50))
def test_a_text_may_be_cut_anywhere(text: str, at: int) -> None:
    assert sanitise(text[:at]) + sanitise(text[at:]) == sanitise(text)


@settings(max_examples=50)
@given(st.text(st.characters(codec=None)))
def test_sanitising_again_changes_nothing(text: str) -> None:
    once = sanitise(text, newlines=False)
    assert sanitise(once, newlines=False) == once
    assert "\n" not in once
    once.encode()


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\x1b]52;c;never ends\nnext line", "a\nnext line"),
        ("a\x1bP1$r\x1b\\b", "ab"),
        ("a\x9b2Jb\x9d0;t\x9cc", "abc"),
        ("a\x1b(Bb\x1bcd\x1b", "abd"),
        ("plain [2J", "plain [2J"),
        ("cut\x1b[3", "cut"),
    ],
)
def test_sequences_of_a_commands_output_are_taken_out_whole(raw: str, clean: str) -> None:
    assert strip_ansi(raw) == clean
