"""Where a search path leads to what a command of some session may have put there: it is not to be run outside of the
sandbox unasked.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from grokmini.files.places import real_path, repository_root

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/nix/store", "/run/current-system", "/gnu/store")


def unplanted(path: str) -> tuple[str, ...]:
    """The folders of a search path but for those of the project, of virtual environments, and of what npm fills."""
    return tuple(folder for folder in path.split(os.pathsep) if not _may_be_planted(folder))


def _may_be_planted(folder: str) -> bool:
    """A folder that is not absolute is the project's own."""
    if not folder.startswith("/"):
        return True
    real = real_path(Path(folder))
    if any(real.is_relative_to(one) for one in _SYSTEM):
        return False
    if (real.parent / "pyvenv.cfg").exists() or "node_modules" in real.parts:
        return True
    try:
        here = Path.cwd()
    except OSError:
        return False
    return real.is_relative_to(repository_root(here) or real_path(here))
