"""A person at a pty: types bytes, waits until something is to be seen."""

from __future__ import annotations

import asyncio
import os
import select
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from grokmini.repl import linear
from grokmini.repl.linear import LinearOptions, LinearTerminal
from tests.repl.scripted_session import ScriptedFactory, ScriptedSession
from tests.waiting import SECONDS

PROMPT = "› "


class Person:
    """The other end of the terminal. `output` is everything that was written, line ends as they came."""

    def __init__(self, master: int, slave: int) -> None:
        self.master = master
        self.slave = slave
        self.output = ""
        self._raw = b""
        self._place = 0
        self._changed = asyncio.Event()
        asyncio.get_running_loop().add_reader(master, self._read)

    def type(self, *pieces: str | bytes) -> None:
        """Press keys: each piece is one write."""
        for piece in pieces:
            os.write(self.master, piece.encode() if isinstance(piece, str) else piece)

    async def press(self, keys: str) -> None:
        """Press keys, and wait until the program has read them."""
        self.type(keys)
        arrived, _, _ = select.select([self.slave], [], [], SECONDS)
        assert arrived
        while select.select([self.slave], [], [], 0)[0]:
            await asyncio.sleep(0)

    async def see(self, text: str) -> str:
        """Wait until the text is written, behind what was seen before; what came up to its end."""
        async with asyncio.timeout(SECONDS):
            while (found := self.output.find(text, self._place)) < 0:
                self._changed.clear()
                await self._changed.wait()
        start, self._place = self._place, found + len(text)
        return self.output[start : self._place]

    async def see_prompt(self, draft: str = "") -> str:
        """Wait for a fresh prompt with this draft."""
        return await self.see("\n" + PROMPT + draft)

    @property
    def unseen(self) -> str:
        """What was written since."""
        return self.output[self._place :]

    def settings(self) -> list[int | list[bytes | int]]:
        """The terminal's settings, as `stty -g` has them."""
        return termios.tcgetattr(self.slave)

    def leave(self) -> None:
        """Close the window."""
        asyncio.get_running_loop().remove_reader(self.master)
        os.close(self.master)
        self.master = -1

    def _read(self) -> None:
        self._raw += os.read(self.master, 65536)
        self.output = self._raw.decode("utf-8", "replace").replace("\r\n", "\n")
        self._changed.set()


class Talk:
    """A person, a session and the program between them."""

    def __init__(
        self, person: Person, session: ScriptedSession, factory: ScriptedFactory, app: asyncio.Task[int]
    ) -> None:
        self.person = person
        self.session = session
        self.factory = factory
        self.app = app

    async def exit_code(self) -> int:
        """Wait for the end."""
        async with asyncio.timeout(SECONDS):
            return await self.app


@asynccontextmanager
async def talk(
    *,
    typed_before: bytes = b"",
    history: Path | None = None,
    first_prompt: str = "",
    colour_level: int = 0,
    lines_to: int | None = None,
    cwd: str = "/work",
    session_ends: bool = True,
) -> AsyncIterator[Talk]:
    """Start the linear REPL on a fresh pty. `lines_to` sends the lines elsewhere, as a pipe does."""
    master, slave = os.openpty()
    person = Person(master, slave)
    if typed_before:
        person.type(typed_before)
        await person.see(typed_before.decode().replace("\r", "\n").splitlines()[-1])
    session, factory = ScriptedSession(cwd=cwd, ends=session_ends), ScriptedFactory()
    output = slave if lines_to is None else lines_to
    terminal = LinearTerminal(slave, output, slave, width=80, unicode=True, colour_level=colour_level)
    options = LinearOptions(history=history, first_prompt=first_prompt)
    app = asyncio.ensure_future(linear.run(session.opened, factory, terminal, options))
    try:
        yield Talk(person, session, factory, app)
        if not app.done():
            app.cancel()
        await asyncio.gather(app, return_exceptions=True)
    finally:
        if person.master >= 0:
            person.leave()
        os.close(slave)
