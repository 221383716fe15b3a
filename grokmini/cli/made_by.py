"""The line by which a generated file is known as ours, so that it may be replaced."""

from __future__ import annotations

from grokmini import __version__

MARK = "Made by grokmini"


def made_by() -> str:
    """What a generated file says of itself, without its comment sign."""
    return f"{MARK} {__version__} from its own tables; changes are overwritten."
