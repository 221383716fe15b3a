"""A whole session for tests, built by the program's own wiring: real files, real commands, a real server."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from grokmini.cli.choose_model import choose_model
from grokmini.cli.choose_session import OpenAs
from grokmini.cli.options import Options
from grokmini.cli.root import load_root
from grokmini.cli.wire import Wired, open_session, start_session
from grokmini.protocol import commands, events
from grokmini.protocol.codec import decode_stored
from grokmini.protocol.ids import short_id
from grokmini.protocol.items import ConversationItem
from grokmini.sandbox.probe import Mechanisms
from tests.fakes.model_server import ModelServer

E = TypeVar("E", bound=events.SessionEvent)


class Driver:
    """Talks to a session and remembers everything it said."""

    def __init__(self, wired: Wired) -> None:
        self.wired = wired
        self.seen: list[events.SessionEvent] = []

    def send(self, command: commands.SessionCommand) -> None:
        """Ask for something."""
        self.wired.handle.send(command)

    def prompt(self, text: str) -> str:
        """Send a prompt; its id."""
        prompt_id = short_id()
        self.send(commands.Prompt(prompt_id, text))
        return prompt_id

    async def until(self, type_: type[E], where: Callable[[E], bool] = lambda _: True) -> E:
        """The next event of that type, everything on the way kept in `seen`."""
        async for record in self.wired.events:
            self.seen.append(record.event)
            if isinstance(record.event, type_) and where(record.event):
                return record.event
        raise AssertionError(f"the session ended without {type_.__name__}: {self.seen}")

    async def ask(self, text: str) -> events.TurnEnded:
        """Send a prompt and wait for the end of its turn."""
        self.prompt(text)
        return await self.until(events.TurnEnded)

    def of(self, type_: type[E]) -> list[E]:
        """All events of that type so far."""
        return [event for event in self.seen if isinstance(event, type_)]

    def history(self) -> list[ConversationItem]:
        """The history as it is on disk."""
        lines = (self.wired.directory / "chat_history.jsonl").read_bytes().splitlines()
        return [decode_stored(line).item for line in lines]


@asynccontextmanager
async def session(
    folder: Path,
    server: ModelServer | None,
    *,
    interactive: bool = True,
    mode: str = "ask",
    model: str | None = "fake-model",
    titles: bool = False,
    mechanisms: Mechanisms | None = None,
    env: Mapping[str, str] | None = None,
    **options: object,
) -> AsyncIterator[Driver]:
    """A running session in `folder`, shut down at the end. With `titles` its model may be asked for one; without
    `mechanisms` its sandbox has those of this machine.
    """
    asked = Options(model=model, permission_mode=mode or None, cwd=str(folder))._replace(**options)  # type: ignore[arg-type]
    environment = {**os.environ, **(env or {})}
    if server is not None:
        environment["GROKMINI_BASE_URL"] = server.url
    if titles or mechanisms is not None:
        root = load_root(asked, environment)
        chosen, open_as = await choose_model(root), OpenAs.from_options(asked)
        wired = await start_session(
            root,
            chosen,
            open_as,
            interactive=interactive,
            may_title=lambda _: titles,
            mechanisms=mechanisms,
        )
    else:
        wired = await open_session(asked, interactive=interactive, env=environment)
    driver = Driver(wired)
    try:
        yield driver
    finally:
        driver.send(commands.Shutdown("test"))
        await driver.wired.handle.closed()
