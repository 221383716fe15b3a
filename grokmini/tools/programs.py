"""Finding programs. (`shutil.which` would bring in every archive format with it.)"""

from __future__ import annotations

import os
from pathlib import Path


def find_program(name: str, path: str | None) -> str | None:
    """The absolute path of an executable on a search path, or None. Relative folders on it are not trusted."""
    for folder in (path if path is not None else os.defpath).split(os.pathsep):
        candidate = Path(folder) / name
        if candidate.is_absolute() and os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate)
    return None
