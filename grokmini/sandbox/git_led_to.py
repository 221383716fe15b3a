"""What the settings of a repository lead git to besides: files they include, and the folder of hooks they name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from grokmini.files.git_settings import paths_named
from grokmini.sandbox.nested import Repository, settings_of
from grokmini.text.below import is_below

_MOST: Final = 50
_FILES: Final = ("config", "config.worktree")


def led_to(one: Repository, home: str) -> Iterator[str]:
    """The paths, there or not, for one repository; a condition of what is included may come true at any time."""
    waiting = [
        f"{folder}/{name}" for folder in dict.fromkeys((settings_of(one), one.folder)) for name in _FILES
    ]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST:
        file = waiting.pop(0)
        if file in seen:
            continue
        seen.add(file)
        for kind, text in paths_named(file):
            base = os.path.dirname(file) if kind == "include" else one.top
            path = _absolute(text, base, home)
            if path and not is_below(one.top, path):  # else the project could not be worked in
                yield path
            if path and kind == "include":
                waiting.append(path)


def _absolute(text: str, base: str, home: str) -> str:
    """Empty for what is no path here: of another user's home, or relative to where git is installed."""
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    if not text or text[0] in "~%" or "\0" in text:
        return ""
    return os.path.normpath(os.path.join(base, text))
