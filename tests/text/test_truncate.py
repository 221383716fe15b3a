"""Cutting says what it leaves out."""

from __future__ import annotations

from grokmini.text.truncate import cut_long_lines


def test_long_lines_are_cut_and_others_kept() -> None:
    assert cut_long_lines("a\n" + "x" * 30 + "\nb", 10) == "a\n" + "x" * 10 + "… [20 more characters]\nb"
