"""The terminal in other hands: the person's editor, the pager, the shell that stopped us.

Whoever gets it finds it as a shell would: cooked, no live rows. Afterwards everything is as before.

The program stays in our process group, so that the terminal's own stop key stops us together with it and `fg`
continues both. The other keys that the terminal turns into signals are the program's alone while it is there.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import tempfile
from asyncio.subprocess import Process
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from grokmini.files.private import make_private_folder
from grokmini.repl.keyboard import Keyboard
from grokmini.repl.screen import Screen

EDITORS = ("VISUAL", "EDITOR")
END_SECONDS = 1.0
"""How long a program that was asked to end may take before it is killed."""


class HandoverError(Exception):
    """The program could not be started or failed; the text says which and why."""


class Handover:
    """Runs programs that need the terminal, one at a time.

    What they are given lies in a folder of its own in `private`, which commands cannot write: in a temporary one they
    could put a link in its place, and the editor would write where that leads. Without one it is temporary.
    `on_return` is called when a program has ended, before anything is read that was typed meanwhile.
    """

    def __init__(
        self,
        screen: Screen,
        keyboard: Keyboard,
        env: Mapping[str, str],
        on_return: Callable[[], None],
        private: Path | None = None,
    ) -> None:
        self._screen = screen
        self._keyboard = keyboard
        self._env = env
        self._on_return = on_return
        self._private = private
        self._turn = asyncio.Lock()
        self._child: Process | None = None
        self._ending = asyncio.Event()

    @property
    def away(self) -> bool:
        """Whether a program has the terminal."""
        return self._child is not None

    async def edit(self, text: str, saved: Callable[[str], None]) -> None:
        """Let the person edit the text in `$VISUAL`, `$EDITOR` or vi. Raises `HandoverError`.

        `saved` gets what they saved, before anything is read that was typed meanwhile.
        """
        words = _words(next((self._env[name] for name in EDITORS if self._env.get(name)), "vi"))
        with self._folder() as folder:
            path = Path(folder) / "prompt.md"
            path.write_text(text, encoding="utf-8")
            await self._run(
                [*words, str(path)],
                self._env,
                lambda: saved(path.read_text(encoding="utf-8", errors="replace")),
            )

    async def page(self, text: str) -> None:
        """Show the text in `$PAGER` or less. Raises `HandoverError`.

        Less is told to let colours through whatever the person's own `LESS` says; a pager that is a script around
        it hears so by `LESS` when the person has none.
        """
        words = _words(self._env.get("PAGER") or "less")
        if Path(words[0]).name == "less":
            words.append("-R")
        with self._folder() as folder:
            path = Path(folder) / "text"
            path.write_text(text, encoding="utf-8")
            await self._run([*words, str(path)], {**self._env, "LESS": self._env.get("LESS", "-R")}, None)

    def _folder(self) -> tempfile.TemporaryDirectory[str]:
        if self._private is not None:
            with suppress(OSError):
                make_private_folder(self._private)
                return tempfile.TemporaryDirectory(prefix=".handed-over-", dir=self._private)
        return tempfile.TemporaryDirectory(prefix="grokmini-")

    async def end(self) -> None:
        """End whoever has the terminal, and hand it over no more; it is ours and cooked afterwards."""
        self._ending.set()
        child = self._child
        if child is not None:
            _signal(child, signal.SIGTERM)
            _signal(child, signal.SIGCONT)
            try:
                await asyncio.wait_for(child.wait(), END_SECONDS)
            except TimeoutError:
                _signal(child, signal.SIGKILL)
                await child.wait()
        async with self._turn:
            self._keyboard.close()

    async def _run(
        self, words: list[str], env: Mapping[str, str], on_success: Callable[[], None] | None
    ) -> None:
        async with self._turn:
            if self._ending.is_set():
                raise HandoverError(f"{words[0]} is not started: the program ends")
            with self._screen.hand_over(), _keys_left_alone():
                self._keyboard.close()
                try:
                    self._child = await _start(words, env)
                    if self._ending.is_set():
                        self._child.kill()
                    code = await self._child.wait()
                    if code == 0 and on_success:
                        on_success()
                finally:
                    self._child = None
                    if not self._ending.is_set():
                        self._on_return()
                        self._keyboard.reopen()
        if code:
            raise HandoverError(f"{words[0]} ended with {code}; the text is as it was")


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise HandoverError(f"{command}: {error}") from error
    if not words:
        raise HandoverError(f"{command!r} names no program")
    return words


async def _start(words: list[str], env: Mapping[str, str]) -> Process:
    try:
        with _terminal() as terminal:
            return await asyncio.create_subprocess_exec(
                *words, env=dict(env), stdin=terminal, stdout=terminal, stderr=terminal
            )
    except OSError as error:
        raise HandoverError(f"{words[0]} cannot be started: {error.strerror}") from error


def _terminal() -> FileIO:
    return FileIO(os.ctermid(), "r+")


@contextmanager
def _keys_left_alone() -> Iterator[None]:
    """Inside, the stop key stops us without a word, and the quit key does nothing to us.

    They are handled, not ignored: what is ignored stays so for a program that is started.
    """
    before = {
        signal.SIGTSTP: signal.signal(signal.SIGTSTP, signal.SIG_DFL),
        signal.SIGQUIT: signal.signal(signal.SIGQUIT, lambda number, frame: None),
    }
    try:
        yield
    finally:
        for number, found in before.items():
            signal.signal(number, found)


def _signal(child: Process, number: signal.Signals) -> None:
    """Send it, unless the child has ended already."""
    if child.returncode is None:
        child.send_signal(number)
