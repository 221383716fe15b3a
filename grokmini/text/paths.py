"""Paths: where they lead, how a model and a person see them, and how they are read back.

A name on disk may hold line ends and control characters. Shown as it is, it could pass for two entries of a list
or for a sentence of ours; so such a path is shown as a JSON string, and that string is taken for the path again.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from grokmini.protocol.codec import join_surrogates
from grokmini.text.sanitise import sanitise

QUOTED = '"'


def real_path(path: Path) -> Path:
    """Where a path leads, links followed as far as they exist and lead on. Never raises `OSError`.

    `Path.resolve` ends in a `RuntimeError` at a link that leads to itself.
    """
    return Path(os.path.realpath(path))


def repository_root(folder: Path) -> Path | None:
    """The real path of the nearest folder upwards that holds `.git` (a worktree's own root counts); None outside."""
    real = real_path(folder)
    for candidate in (real, *real.parents):
        if os.path.exists(candidate / ".git"):
            return candidate
    return None


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
