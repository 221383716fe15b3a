"""A real tmux with one window, a server of its own, and nothing of the person's configuration."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

SECONDS = 60.0


class Tmux:
    """`with Tmux(folder, 80, 24, command) as tmux:`; the window stays when the command has ended."""

    def __init__(
        self, folder: Path, columns: int, rows: int, command: str, env: Mapping[str, str] | None = None
    ) -> None:
        self._socket = folder / "tmux"
        self._settings = folder / "tmux.conf"
        self._settings.write_text(
            "set -g remain-on-exit on\nset -g history-limit 100000\nset -g status off\nset -sg escape-time 0\n",
            encoding="utf-8",
        )
        self._start = (columns, rows, command)
        self._env = {**os.environ, **(env or {})}

    def __enter__(self) -> Self:
        columns, rows, command = self._start
        self.do("new-session", "-d", "-x", str(columns), "-y", str(rows), command)
        return self

    def __exit__(self, *_: object) -> None:
        self.do("kill-server", check=False)

    def do(self, *words: str, check: bool = True) -> str:
        """Run a tmux command; what it prints."""
        command = ["tmux", "-S", str(self._socket), "-f", str(self._settings), "-u", *words]
        env = {name: value for name, value in self._env.items() if name not in ("TMUX", "TMUX_PANE")}
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=SECONDS)
        assert not check or done.returncode == 0, f"{words}: {done.stderr}"
        return done.stdout

    def resize(self, columns: int, rows: int) -> None:
        """Give the window another size."""
        self.do("resize-window", "-x", str(columns), "-y", str(rows))

    def keys(self, *names: str) -> None:
        """Press keys by tmux's names (`Enter`, `C-c`, a letter)."""
        self.do("send-keys", *names)

    def lines(self) -> list[str]:
        """History and screen as text, wrapped rows put together."""
        return [line.rstrip(" ") for line in self.do("capture-pane", "-p", "-J", "-S", "-").split("\n")]

    def screen(self) -> list[str]:
        """The rows on the screen."""
        return self.do("capture-pane", "-p").split("\n")[:-1]

    def at_cursor(self) -> str:
        """The row that the cursor stands in, both as they were at one moment."""
        words = ("display-message", "-p", "#{cursor_y}", ";", "capture-pane", "-p")
        row, *screen = self.do(*words).split("\n")
        return screen[int(row)].rstrip(" ")

    def wait_for(self, text: str) -> None:
        """Wait until the text stands on the screen."""
        self.wait_until(lambda: any(text in row for row in self.screen()), text)

    def wait_until(self, true: Callable[[], bool], what: str) -> None:
        """Wait for a condition; fails after `SECONDS`."""
        end = time.monotonic() + SECONDS
        while not true():
            assert time.monotonic() < end, f"waited in vain for {what!r}:\n" + "\n".join(self.screen())
            time.sleep(0.02)
