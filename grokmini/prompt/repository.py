"""The branch of a repository, read from files (git is not run), and paths as prompts show them."""

from __future__ import annotations

import os
from pathlib import Path

from grokmini.files.git_settings import git_folder_of
from grokmini.files.places import repository_root
from grokmini.files.regular import read_start
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
            git_dir = Path(git_folder_of(git_dir))
        head = read_start(git_dir / "HEAD", _MAX_HEAD).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    if not head.startswith("ref:"):
        return DETACHED if head else ""
    return head.removeprefix("ref:").strip().removeprefix("refs/heads/")


def shown(path: Path) -> str:
    """The path as one line of text: bytes that are no UTF-8, quotes and invisible characters are replaced."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return sanitise(text, newlines=False).replace('"', "'")
