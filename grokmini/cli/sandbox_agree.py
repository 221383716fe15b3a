"""The question about a project's sandbox profile that grants more than `workspace`, asked once before the session."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable

from grokmini.cli.report import say
from grokmini.sandbox.profile import Profile
from grokmini.text.sanitise import sanitise


def ask_about_profile(profile: Profile, grants: tuple[str, ...], read: Callable[[], str]) -> bool:
    """Say what it grants and read one line; only a yes is one. `read` gives the typed line, "" at its end."""
    _say(
        f"The project's sandbox profile {profile.name} grants more than workspace. Commands and file tools may then"
    )
    for grant in grants:
        _say(sanitise(grant, newlines=False), "  ")
    _say("Use it? It is asked again when the project changes it. y/N:")
    return read().strip().lower() in ("y", "yes")


def _say(text: str, indent: str = "") -> None:
    """In lines that fit the terminal; what has no spaces stays whole."""
    width = max(20, shutil.get_terminal_size().columns)
    for line in textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent * 2,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        say(line)
