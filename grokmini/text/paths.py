"""Paths: how a model and a person see them, and how they are read back.

A name on disk may hold line ends and control characters. Shown as it is, it could pass for two entries of a list
or for a sentence of ours; so such a path is shown as a JSON string, and that string is taken for the path again.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from grokmini.protocol.codec import join_surrogates
from grokmini.text.sanitise import sanitise

QUOTED = '"'


def visible_path(path: str | Path) -> str:
    """The path in one line, as a JSON string when it holds a line end, a control or an invisible character.

    So is a path that begins with a quote, so that `given_path` always reads the shown form back. Bytes that are no
    UTF-8 show as U+FFFD and are not read back.
    """
    text = join_surrogates(str(path))
    if not text.startswith(QUOTED) and sanitise(text, newlines=False) == text:
        return text
    quoted = msgspec.json.encode(text).decode()
    return "".join(char if sanitise(char, newlines=False) == char else _escaped(char) for char in quoted)


def given_path(text: str) -> str:
    """The path that a text means: what `visible_path` made is read back, anything else is the path itself."""
    if len(text) < 2 or not (text.startswith(QUOTED) and text.endswith(QUOTED)):
        return text
    try:
        return msgspec.json.decode(text, type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
