"""Making folders that only their owner gets into."""

from __future__ import annotations

from pathlib import Path


def make_private_folder(path: Path) -> None:
    """Create the folder and those above it that are missing, for the owner alone (0700).

    Raises `OSError`.
    """
    missing: list[Path] = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:  # another process of ours was first
            continue
