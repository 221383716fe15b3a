"""The folder to work in."""

from __future__ import annotations

from pathlib import Path

from grokmini.protocol.errors import UsageError


def working_folder(named: str | None) -> Path:
    """The real path of the folder to work in, the current one unless named. Raises `UsageError`."""
    try:
        cwd = Path(named or ".").resolve(strict=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "no folder has such a name"
        raise UsageError(
            f"cannot work in {named or 'this folder'}: {reason}", "name one that is there"
        ) from None
    if not cwd.is_dir():
        raise UsageError(f"cannot work in {cwd}: it is not a folder", "name a folder with --cwd")
    return cwd
