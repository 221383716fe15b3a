"""What is on the clipboard, an image or text, by the helper programs of the desktop. Blocks; call it in a thread."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence

from grokmini.sandbox.environment import neutral_environment

LIMIT_SECONDS = 2.0
_IMAGE = "image/png"
_IMAGE_HELPERS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--list-types"), ("wl-paste", "--type", _IMAGE)),
    (
        "DISPLAY",
        ("xclip", "-selection", "clipboard", "-target", "TARGETS", "-out"),
        ("xclip", "-selection", "clipboard", "-target", _IMAGE, "-out"),
    ),
)
"""The variable that tells of the desktop, the command that lists what kinds there are, the one that gives an image."""
_HELPERS = (
    ("WAYLAND_DISPLAY", ("wl-paste", "--no-newline")),
    ("DISPLAY", ("xclip", "-selection", "clipboard", "-out")),
    ("DISPLAY", ("xsel", "--clipboard", "--output")),
    ("TMUX", ("tmux", "save-buffer", "-")),
    ("", ("pbpaste",)),
)


class NoClipboardError(Exception):
    """There is no way to the clipboard here; the text says what to install or do."""


def read_clipboard(env: Mapping[str, str]) -> str | bytes:
    """The image (as PNG) or the text on the clipboard, "" when it holds neither. Raises `NoClipboardError`."""
    return _image(env) or _text(env)


def _image(env: Mapping[str, str]) -> bytes | None:
    for variable, kinds, image in _IMAGE_HELPERS:
        if env.get(variable) and _IMAGE in (_run(kinds, env) or b"").decode("utf-8", "replace").split():
            return _run(image, env)
    return None


def _text(env: Mapping[str, str]) -> str:
    asked = False
    for variable, command in _HELPERS:
        if shutil.which(command[0], path=env.get("PATH")) is None or (variable and not env.get(variable)):
            continue
        asked = True
        found = _run(command, env)
        if found is not None:
            return found.decode("utf-8", "replace")
        if variable == "WAYLAND_DISPLAY":
            return ""
    if asked:
        return ""
    raise NoClipboardError("no clipboard program here (wl-paste, xclip): paste with the terminal's own key")


def _run(command: Sequence[str], env: Mapping[str, str]) -> bytes | None:
    """What the program prints; None when there is none or it fails."""
    program = shutil.which(command[0], path=env.get("PATH"))
    if program is None:
        return None
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
        return None
    return done.stdout if done.returncode == 0 else None
