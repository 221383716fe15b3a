"""The folders of a project that may hold settings."""

from __future__ import annotations

from pathlib import Path

from grokmini.files.places import real_path


def folders_down_to(folder: Path, root: Path | None) -> tuple[Path, ...]:
    """The folders from the repository's root down to `folder`; without a root, `folder` alone."""
    real = real_path(folder)
    if root is None or not real.is_relative_to(root):
        return (real,)
    parts = real.relative_to(root).parts
    return tuple(root.joinpath(*parts[:count]) for count in range(len(parts) + 1))
