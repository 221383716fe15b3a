"""The branch of a repository, read from files (git is not run), and paths as prompts show them."""

from __future__ import annotations

import os
from pathlib import Path

from grokmini.text.paths import repository_root
from grokmini.text.regular import read_start
from grokmini.text.sanitise import sanitise

DETACHED = "(detached)"
_MAX_HEAD = 4_096


def branch_of(folder: Path) -> str:
    """The branch checked out there: empty outside of a repository, `(detached)` when there is none."""
    root = repository_root(folder)
    if root is None:
        return ""
    git_dir = root / ".git"
    try:
        if git_dir.is_file():
            named = _start_of(git_dir).partition("gitdir:")[2].strip()
            git_dir = root / named
        head = _start_of(git_dir / "HEAD").strip()
    except (OSError, ValueError):  # nothing has a name with a NUL
        return ""
    if not head.startswith("ref:"):
        return DETACHED if head else ""
    return head.removeprefix("ref:").strip().removeprefix("refs/heads/")


def _start_of(file: Path) -> str:
    return read_start(file, _MAX_HEAD).decode("utf-8", "replace")


def shown(path: Path) -> str:
    """The path as one line of text: bytes that are no UTF-8, quotes and invisible characters are replaced."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return sanitise(text, newlines=False).replace('"', "'")
