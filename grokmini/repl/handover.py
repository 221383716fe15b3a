"""The terminal in other hands: the person's editor, the pager, the shell that stopped us.

Whoever gets it finds it as a shell would: cooked, no live rows. Afterwards everything is as before.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from grokmini.repl.keyboard import Keyboard
from grokmini.repl.screen import Screen

EDITORS = ("VISUAL", "EDITOR")


class HandoverError(Exception):
    """The program could not be started or failed; the text says which and why."""


class Handover:
    """Runs programs that need the terminal, one at a time."""

    def __init__(self, screen: Screen, keyboard: Keyboard, env: Mapping[str, str]) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._env = env

    async def edit(self, text: str) -> str:
        """Let the person edit the text in `$VISUAL`, `$EDITOR` or vi; what they saved. Raises `HandoverError`."""
        command = next((self._env[name] for name in EDITORS if self._env.get(name)), "vi")
        with tempfile.TemporaryDirectory(prefix="grokmini-") as folder:
            path = Path(folder) / "prompt.md"
            path.write_text(text, encoding="utf-8")
            await self._run(command, str(path))
            return path.read_text(encoding="utf-8", errors="replace")

    async def page(self, text: str) -> None:
        """Show the text in `$PAGER` or less. Raises `HandoverError`."""
        command = self._env.get("PAGER") or "less"
        with tempfile.TemporaryDirectory(prefix="grokmini-") as folder:
            path = Path(folder) / "text"
            path.write_text(text, encoding="utf-8")
            await self._run(command, str(path))

    async def _run(self, command: str, path: str) -> None:
        try:
            words = [*shlex.split(command), path]
        except ValueError as error:
            raise HandoverError(f"{command}: {error}") from error
        env = {**self._env, "LESS": self._env.get("LESS", "-R")}
        with self._screen.hand_over():
            self._keyboard.close()
            try:
                code = await asyncio.to_thread(_run_in_front, words, env)
            finally:
                self._keyboard.reopen()
        if code:
            raise HandoverError(f"{words[0]} ended with {code}; the text is as it was")


def _run_in_front(words: list[str], env: Mapping[str, str]) -> int:
    try:
        with Path(os.ctermid()).open("r+b", buffering=0) as terminal:
            return subprocess.run(
                words, env=dict(env), stdin=terminal, stdout=terminal, stderr=terminal, check=False
            ).returncode
    except OSError as error:
        raise HandoverError(f"{words[0]} cannot be started: {error.strerror}") from error
