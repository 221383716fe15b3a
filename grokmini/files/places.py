"""Where paths lead on the disk."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

PROJECT_FOLDER: Final = ".grokmini"
"""Where a project has what is ours: settings, sandbox profiles, rules, hooks. No command and no tool writes there."""


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
