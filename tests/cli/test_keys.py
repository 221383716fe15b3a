"""`grokmini keys` says what a terminal sends."""

from __future__ import annotations

import pytest

from grokmini.cli.keys import describe


@pytest.mark.parametrize(
    ("data", "meaning"),
    [
        (b"\r", "enter"),
        (b"\n", "newline"),
        (b"\x1b\r", "newline"),
        (b"\x1b[13;2u", "newline"),
        (b"\x1b[27;2;13~", "newline"),
        (b"\x1b", "escape"),
        (b"\x1b[A", "up"),
        ("é".encode(), "text 'é'"),
        (b"\x1b[?1;2c", "nothing: an answer of the terminal"),
    ],
)
def test_a_key_is_shown_with_its_meaning(data: bytes, meaning: str) -> None:
    assert describe(data).endswith(meaning)
    assert describe(data).isprintable()
