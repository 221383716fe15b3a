"""What is on the clipboard, by the helper programs of the desktop. Blocks; call it in a thread."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

from grokmini.sandbox.environment import neutral_environment

LIMIT_SECONDS = 2.0
_HELPERS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-out")),
    ("DISPLAY", ("xsel", "--clipboard", "--output")),
    ("TMUX", ("tmux", "save-buffer", "-")),
    ("", ("pbpaste",)),
)


class NoClipboardError(Exception):
    """There is no way to the clipboard here; the text says what to install or do."""


def read_clipboard(env: Mapping[str, str]) -> str:
    """The text on the clipboard, "" when it holds none. Raises `NoClipboardError`."""
    asked = False
    for variable, command in _HELPERS:
        program = shutil.which(command[0], path=env.get("PATH"))
        if program is None or (variable and not env.get(variable)):
            continue
        asked = True
        try:
            done = subprocess.run(
                (program, *command[1:]),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_SECONDS,
                env=neutral_environment(env),
                check=False,
                start_new_session=True,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return done.stdout.decode("utf-8", "replace")
        if variable == "WAYLAND_DISPLAY":
            return ""
    if asked:
        return ""
    raise NoClipboardError("no clipboard program here (wl-paste, xclip): paste with the terminal's own key")
