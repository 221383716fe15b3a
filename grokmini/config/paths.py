"""Where our files are (decisions.md, "Places"), and writing them so that only their owner reads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from grokmini.protocol.errors import UsageError

NAME = "grokmini"


class Places(NamedTuple):
    """The four folders that are ours. They need not exist yet."""

    config: Path
    state: Path
    cache: Path
    data: Path


_XDG = {
    "config": ("XDG_CONFIG_HOME", ".config"),
    "state": ("XDG_STATE_HOME", ".local/state"),
    "cache": ("XDG_CACHE_HOME", ".cache"),
    "data": ("XDG_DATA_HOME", ".local/share"),
}


def find_places(env: Mapping[str, str]) -> Places | None:
    """Our folders by the environment; None when there is no home to put them in.

    `GROKMINI_HOME=DIR` puts all four under DIR. Otherwise each XDG variable that holds an absolute path counts,
    then the platform's own place under `HOME`. Nothing is created, and the current folder is never used.
    Raises `UsageError` when GROKMINI_HOME is no absolute path.
    """
    own = env.get("GROKMINI_HOME", "")
    if own:
        base = Path(own)
        if not base.is_absolute():
            raise UsageError("GROKMINI_HOME is not an absolute path", "set it to a path that begins with /")
        return Places(*(base / name for name in _XDG))
    found: list[Path] = []
    for name, (variable, below_home) in _XDG.items():
        place = _xdg_place(env, name, variable, below_home)
        if place is None:
            return None
        found.append(place)
    return Places(*found)


def _xdg_place(env: Mapping[str, str], name: str, variable: str, below_home: str) -> Path | None:
    given = env.get(variable, "")
    if given.startswith("/"):
        return Path(given) / NAME
    home = env.get("HOME", "")
    if not home.startswith("/"):
        return None
    if sys.platform == "darwin":
        import platformdirs  # 25 ms, and on Linux it would say the same as the line below

        return getattr(platformdirs, f"user_{name}_path")(NAME, appauthor=False) / name
    return Path(home) / below_home / NAME


def write_private(path: Path, data: bytes) -> None:
    """Replace the file in one step, for the owner alone (0600); a symlink is written through.

    The old content stays whole until the new one is on the disk. Raises `OSError`.
    """
    import tempfile  # like the next one: not needed to find a place, and a shell asks for one at the Tab key

    from grokmini.files.places import real_path
    from grokmini.files.private import make_private_folder

    target = real_path(path)
    make_private_folder(target.parent)
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
