"""A text to the clipboard by every way there is: the terminal itself, the desktop's programs, tmux, and a file.

Nobody can know which of them the person's clipboard hears, so each is tried and all are named (spec: terminal.md).
Blocks; call it in a thread.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from grokmini.sandbox.environment import neutral_environment

LIMIT_SECONDS = 2.0
OSC_BYTES = 74_994
"""The longest text that terminals are known to take by OSC 52: 100,000 bytes of base64 and what is around it."""

_PROGRAMS = (
    ("WAYLAND_DISPLAY", ("wl-copy",)),
    ("DISPLAY", ("xclip", "-selection", "clipboard")),
    ("", ("pbcopy",)),
)


class Copied(NamedTuple):
    """`ways` that took the text, the `file` that holds it, and what the terminal is to be sent, if anything."""

    ways: tuple[str, ...]
    file: Path
    sequence: str


def copy_text(text: str, env: Mapping[str, str]) -> Copied:
    """Put the text wherever it may be wanted. Raises `OSError` when not even a file can be written."""
    data = text.encode("utf-8", "replace")
    with tempfile.NamedTemporaryFile("wb", prefix="grokmini-copy-", suffix=".md", delete=False) as file:
        file.write(data)
    path = Path(file.name)
    ways = [
        command[0]
        for variable, command in _PROGRAMS
        if _is_there(variable, command[0], env) and _fed(command, path, env)
    ]
    if env.get("TMUX") and _is_there("", "tmux", env) and _fed(("tmux", "load-buffer", str(path)), path, env):
        ways.append("tmux")
    return Copied(tuple(ways), path, osc_52(data, env))


def copied_text(copied: Copied, what: str) -> str:
    """What to say of it."""
    ways = ("the terminal",) if copied.sequence else ()
    by = ", ".join((*copied.ways, *ways))
    return (
        f"copied {what} by {by}; also in {copied.file}"
        if by
        else f"no clipboard here: {what} is in {copied.file}"
    )


def osc_52(data: bytes, env: Mapping[str, str], platform: str = sys.platform) -> str:
    """What asks the terminal to take the text; "" where it would be shown, is too long, or is not needed."""
    if len(data) > OSC_BYTES or env.get("TERM_PROGRAM") == "vscode" or env.get("TERMINAL_EMULATOR"):
        return ""
    needed = platform.startswith("linux") or any(
        env.get(name) for name in ("TMUX", "SSH_TTY", "SSH_CONNECTION")
    )
    if not needed and not Path("/.dockerenv").exists():
        return ""
    sequence = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    if env.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return sequence


def _is_there(variable: str, program: str, env: Mapping[str, str]) -> bool:
    return (not variable or bool(env.get(variable))) and shutil.which(program, path=env.get("PATH")) is not None


def _fed(command: tuple[str, ...], path: Path, env: Mapping[str, str]) -> bool:
    """Whether the program took the text. It stays behind to serve the clipboard, so its output is not waited for."""
    try:
        with path.open("rb") as source:
            done = subprocess.run(
                command,
                stdin=source,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=LIMIT_SECONDS,
                env=neutral_environment(env),
                check=False,
                start_new_session=True,
            )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
