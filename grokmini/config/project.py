"""The repository around a folder, found without running git."""

from __future__ import annotations

from pathlib import Path


def repository_root(folder: Path) -> Path | None:
    """The real path of the nearest folder upwards that holds `.git` (a worktree's own root counts); None outside."""
    real = folder.resolve()
    for candidate in (real, *real.parents):
        if (candidate / ".git").exists():
            return candidate
    return None


def folders_down_to(folder: Path, root: Path | None) -> tuple[Path, ...]:
    """The folders from the repository's root down to `folder`; without a root, `folder` alone."""
    real = folder.resolve()
    if root is None or not real.is_relative_to(root):
        return (real,)
    parts = real.relative_to(root).parts
    return tuple(root.joinpath(*parts[:count]) for count in range(len(parts) + 1))
