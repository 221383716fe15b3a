"""The inline REPL in a real tmux: a person at a shell who starts the program, types, looks and waits."""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import struct
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grokmini.repl.question import GUARD
from tests.e2e.program import PROGRAM, Place
from tests.fakes.model_server import ModelServer
from tests.fakes.tmux import Tmux
from tests.waiting import until_now

ANNOUNCED = "/ commands"
"""Stands on the screen once the session has begun."""

PROMPT = "shell$ "

_ALLOWED = re.compile(
    r"\x1b\[[0-9]*[ABCGLM]|\x1b\[0?[KJ]|\x1b\[[0-9;:]*m|\x1b\[\?(?:2026|25|2004)[hl]"
    r"|\x1b\](?:0|2|8|52);[^\x07\x1b]*\x07"
)


def forbidden(data: bytes) -> list[str]:
    """The escape sequences that must never be sent to the terminal, as they begin."""
    text = _ALLOWED.sub("", data.decode("utf-8", "replace"))
    return [text[match.start() : match.start() + 12] for match in re.finditer("[\x1b\x9b]", text)]


class InlineTerminal:
    """A tmux window with a shell in the project folder. `raw` is every byte the program wrote."""

    def __init__(self, tmux: Tmux, folder: Path) -> None:
        self.tmux = tmux
        self._folder = folder

    @property
    def raw(self) -> bytes:
        """What was written to the terminal since the shell was ready."""
        return (self._folder / "raw").read_bytes()

    def start(self, *words: str, ready: str = ANNOUNCED) -> None:
        """Start the program from the shell; wait until it shows that it is ready."""
        for name in ("before", "after", "code"):
            (self._folder / name).unlink(missing_ok=True)
        already = self.count(ready)
        self.type(f"run {shlex.join(words)}", "Enter")
        self.see(ready, at_least=already + 1)

    def type(self, *keys: str) -> None:
        """Press keys: tmux's names of keys or texts, each taken as a name if it is one."""
        self.tmux.keys(*keys)

    def write(self, text: str) -> None:
        """Type exactly these characters."""
        self.tmux.do("send-keys", "-l", "--", text)

    def send(self, data: bytes) -> None:
        """Let the terminal send exactly these bytes, in one go."""
        self.tmux.do("send-keys", "-H", *(f"{byte:02x}" for byte in data))

    def prompt(self, text: str) -> None:
        """Type a prompt and send it."""
        already = self.count(f"› {text}")
        self.write(text)
        self.see(f"› {text}", at_least=already + 1)
        self.type("Enter")

    def see(self, text: str, *, at_least: int = 1) -> None:
        """Wait until the text stands so often in history and screen."""
        self.tmux.wait_until(lambda: self.count(text) >= at_least, text)

    def see_on_screen(self, *texts: str) -> None:
        """Wait until all of these stand on the screen at once."""
        self.tmux.wait_until(lambda: all(self.shows(text) for text in texts), str(texts))

    def answer(self, key: str, question: str = "1 yes") -> None:
        """Answer the open question and wait until it is gone."""
        self.press_in_question(key, question)
        self.see_gone(question)

    def press_in_question(self, key: str, question: str = "1 yes") -> None:
        """Press a key in the open question. It takes one only when none has come for a while; nothing shows that."""
        self.see_on_screen(question)
        until_now(lambda: self.unread == 0)
        seen = time.monotonic()
        until_now(lambda: time.monotonic() > seen + 1.5 * GUARD)
        self.type(key)

    def see_idle(self) -> None:
        """Wait until nothing runs and the prompt stands there."""
        self.wait_until(lambda: "›" in self.tmux.screen() and not self.shows("Ctrl-C stops"), "an idle prompt")

    def see_gone(self, text: str) -> None:
        """Wait until the text stands nowhere on the screen."""
        self.tmux.wait_until(lambda: not self.shows(text), f"no {text}")

    def wait_until(self, true: Callable[[], bool], what: str) -> None:
        """Wait for a condition; it fails with what is on the screen."""
        self.tmux.wait_until(true, what)

    def shows(self, text: str) -> bool:
        """Whether it is in a row of the screen."""
        return any(text in row for row in self.tmux.screen())

    @property
    def lines(self) -> list[str]:
        """History and screen, wrapped rows put together."""
        return self.tmux.lines()

    def count(self, text: str) -> int:
        """In how many lines of history and screen the text stands."""
        return sum(text in line for line in self.lines)

    @property
    def draft(self) -> str:
        """The row of the cursor, without the prompt's mark."""
        return self.tmux.at_cursor().removeprefix("›").strip()

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row of the cursor on the screen, from 0."""
        column, row = self.tmux.do("display-message", "-p", "#{cursor_x} #{cursor_y}").split()
        return int(column), int(row)

    @property
    def cursor_shown(self) -> bool:
        """Whether the terminal shows its cursor."""
        return self.tmux.do("display-message", "-p", "#{cursor_flag}").strip() == "1"

    @property
    def unread(self) -> int:
        """How many bytes were typed that nobody has read yet."""
        terminal = os.open(
            self.tmux.do("display-message", "-p", "#{pane_tty}").strip(), os.O_RDONLY | os.O_NOCTTY
        )
        try:
            (count,) = struct.unpack("i", fcntl.ioctl(terminal, termios.FIONREAD, bytes(4)))
        finally:
            os.close(terminal)
        return int(count)

    @property
    def pid(self) -> int:
        """The program's process."""
        until_now((self._folder / "pid").exists)
        until_now(lambda: (self._folder / "pid").read_text().endswith("\n"))
        return int((self._folder / "pid").read_text())

    def ended(self) -> int:
        """Wait until the shell has its prompt again; how the program ended. The terminal must be as it was."""
        until_now((self._folder / "after").exists)
        until_now(lambda: (self._folder / "after").read_text().endswith("\n"))
        self.see_shell()
        assert (self._folder / "after").read_text() == (self._folder / "before").read_text()
        assert self.cursor_shown
        assert forbidden(self.raw) == []
        return int((self._folder / "code").read_text())

    def see_shell(self) -> None:
        """Wait until the shell's prompt is what was drawn, and written down, last: all before it is there by then."""
        self.wait_until(lambda: self.tmux.at_cursor() == PROMPT.strip(), "the shell's prompt")
        until_now(lambda: self.raw.endswith(PROMPT.encode()))

    def leave(self) -> int:
        """Leave by Ctrl-D."""
        self.see_idle()
        self.type("C-d")
        return self.ended()


@contextmanager
def inline_terminal(
    place: Place,
    server: ModelServer | None,
    folder: Path,
    columns: int = 80,
    rows: int = 24,
    command: Sequence[str] = (str(PROGRAM),),
    **more: str,
) -> Iterator[InlineTerminal]:
    """A fresh tmux at that size, its shell ready. `run WORDS` starts the command with these words."""
    base = folder / "terminal"
    base.mkdir(exist_ok=True)
    env = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"} | place.environment(server, **more)
    env.pop("TERM", None)
    script = base / "run"
    script.write_text(
        f"#!/bin/sh\nstty -g > {base}/before\n"
        f'sh -c \'echo $$ > {base}/pid; exec "$@"\' sh {shlex.join(command)} "$@"\n'
        f"echo $? > {base}/code\nstty -g > {base}/after\n"
    )
    script.chmod(0o755)
    env["PATH"] = f"{base}:{env['PATH']}"
    settings = [f"{name}={value}" for name, value in env.items()]
    shell = [
        "env",
        "-i",
        *settings,
        'TERM="$TERM"',
        'TMUX="$TMUX"',
        f"PS1={PROMPT}",
        "HISTFILE=",
        "bash",
        "--norc",
        "-i",
    ]
    words = " ".join(word if word.endswith('"') else shlex.quote(word) for word in shell)
    with Tmux(folder, columns, rows, f"cd {shlex.quote(str(place.project))} && exec {words}") as tmux:
        terminal = InlineTerminal(tmux, base)
        terminal.see(PROMPT.strip())
        (base / "raw").touch()
        tmux.do("pipe-pane", "-o", f"exec cat >> {shlex.quote(str(base / 'raw'))}")
        yield terminal
