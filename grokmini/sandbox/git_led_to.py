"""What settings lead git to besides: files that those of a repository include, and the folder of hooks that they, or
the person's own, name.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from grokmini.files.git_settings import paths_named
from grokmini.sandbox.nested import Repository, settings_of
from grokmini.text.below import is_below

_MOST: Final = 50
_FILES: Final = ("config", "config.worktree")
_OF_MACHINE: Final = "/etc/gitconfig"


def led_to(one: Repository, home: str, hooks: Iterable[str] = ()) -> Iterator[str]:
    """The paths, there or not, for one repository; a condition of what is included may come true at any time. `hooks`
    are folders that settings name for every repository.
    """
    folders = dict.fromkeys((settings_of(one), one.folder))
    named = tuple(_named([f"{folder}/{name}" for folder in folders for name in _FILES], home))
    everywhere = (("hooks", text) for text in hooks)
    for kind, text in (*named, *everywhere):
        path = text if kind == "include" else _absolute(text, one.top, home)
        if path and not is_below(one.top, path):  # else the project could not be worked in
            yield path


def hooks_everywhere(home: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """The folders of hooks, as written, that the settings of the person and of the machine name."""
    config = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    mine = (
        (env["GIT_CONFIG_GLOBAL"],)
        if "GIT_CONFIG_GLOBAL" in env
        else (f"{config}/git/config", f"{home}/.gitconfig")
    )
    files = [env.get("GIT_CONFIG_SYSTEM") or _OF_MACHINE, *mine]
    return tuple(dict.fromkeys(text for kind, text in _named(files, home) if kind == "hooks"))


def _named(waiting: list[str], home: str) -> Iterator[tuple[str, str]]:
    """What files of settings, and those they include, name: `include` with an absolute path, `hooks` as written."""
    seen: set[str] = set()
    while waiting and len(seen) < _MOST:
        file = waiting.pop(0)
        if file in seen:
            continue
        seen.add(file)
        for kind, text in paths_named(file):
            if kind == "hooks":
                yield kind, text
            elif path := _absolute(text, os.path.dirname(file), home):
                yield kind, path
                waiting.append(path)


def _absolute(text: str, base: str, home: str) -> str:
    """Empty for what is no path here: of another user's home, or relative to where git is installed."""
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    if not text or text[0] in "~%" or "\0" in text:
        return ""
    return os.path.normpath(os.path.join(base, text))
