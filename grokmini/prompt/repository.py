"""The repository around a folder and its branch, read from files: git is not run."""

from __future__ import annotations

import os
from pathlib import Path

DETACHED = "(detached)"
_MAX_HEAD = 4_096


def find_repository(folder: Path) -> Path | None:
    """The real path of the nearest folder upwards that holds `.git`; None outside of a repository."""
    real = folder.resolve()
    for candidate in (real, *real.parents):
        if (candidate / ".git").exists():
            return candidate
    return None


def branch_of(folder: Path) -> str:
    """The branch checked out there: empty outside of a repository, `(detached)` when there is none."""
    root = find_repository(folder)
    if root is None:
        return ""
    git_dir = root / ".git"
    try:
        if git_dir.is_file():
            named = _start_of(git_dir).partition("gitdir:")[2].strip()
            git_dir = root / named
        head = _start_of(git_dir / "HEAD").strip()
    except OSError:
        return ""
    if not head.startswith("ref:"):
        return DETACHED if head else ""
    return head.removeprefix("ref:").strip().removeprefix("refs/heads/")


def _start_of(file: Path) -> str:
    if not file.is_file():
        return ""
    with file.open("rb") as opened:
        return opened.read(_MAX_HEAD).decode("utf-8", "replace")


def shown(path: Path) -> str:
    """The path as one line of text: bytes that are no UTF-8 become U+FFFD, line breaks and quotes are replaced."""
    text = os.fsencode(path).decode("utf-8", "replace")
    return text.replace("\n", "\ufffd").replace("\r", "\ufffd").replace('"', "'")
