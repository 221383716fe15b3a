"""Commands that went on without what the sandbox stopped, and did what they were for all the same.

An exit code of 0 alone does not say so: `pip install x 2>&1 | tail` and `make install; echo done` end with it whatever
happened. It does where the program that was stopped gives it itself, and is known to give another one when it fails.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from grokmini.tools.read_only import objection
from grokmini.tools.shell_parse import Command, parse

_PUSHED: Final = re.compile(r"^To \S.*\n(?: .*\n)*? [ *+-] .* -> |^Everything up-to-date$", re.M)
_NOT_PUSHED: Final = re.compile(r"^fatal:|^error: failed to push|^ ! \[|\[(?:remote )?rejected\]", re.M)
_GIT_SETTINGS: Final = frozenset({"config", "config.worktree"})
_JOINED: Final = re.compile(r"[;|\n]|(?<![>&])&(?![&>])")
"""What hides an exit code; `&&` does not, nor does `2>&1`."""
_TELLS: Final = frozenset({"git", "pip", "pip3", "uv", "cargo", "go", "pytest", "mypy", "ruff"})
_INSTALLS: Final = frozenset({"npm", "yarn", "pnpm"})
_MODULES: Final = frozenset({"pip", "pytest", "mypy", "ruff", "venv"})


def went_on(command: str, code: int | None, output: str, stopped: tuple[str, ...]) -> str:
    """What the command did nevertheless; empty when it may have failed. `stopped` are the paths or hosts of which the
    sandbox stopped something.
    """
    if code != 0:
        return ""
    settings = all(Path(path).name in _GIT_SETTINGS for path in stopped)
    if settings and _PUSHED.search(output) and not _NOT_PUSHED.search(output):
        return "the push itself succeeded, and only what it would have stored in git's settings is missing"
    if _JOINED.search(command):
        return ""
    script = parse(command)
    if script.doubts or not script.commands:
        return ""
    if all(_is_told(one) for one in script.commands):
        return "the program went on without it and ended well (exit 0)"
    return ""


def _is_told(command: Command) -> bool:
    """Whether it would have ended with another code if it had failed."""
    words = [word.text for word in command.words]
    if not objection(command) or words[:1] == ["cd"]:
        return True
    name = words[0] if words else ""
    if name in _INSTALLS:
        return any(word in ("ci", "install", "i", "add") for word in words[1:2])
    if name in ("python", "python3"):
        return words[1:2] == ["-m"] and words[2:3] != [] and words[2] in _MODULES
    return name in _TELLS
