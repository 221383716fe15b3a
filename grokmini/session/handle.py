"""The engine as others see it: commands in, events out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from grokmini.protocol.commands import SessionCommand
from grokmini.session.stream import EventStream, Subscription


class SessionHandle:
    """A session to talk to. Cheap to pass around."""

    def __init__(
        self,
        session_id: str,
        stream: EventStream,
        send: Callable[[SessionCommand], None],
        ended: asyncio.Future[None],
        task: asyncio.Task[None],
    ) -> None:
        self.session_id = session_id
        self._stream = stream
        self._send = send
        self._ended = ended
        self._task = task

    def send(self, command: SessionCommand) -> None:
        """Ask for something. Never blocks; after the end of the session nothing happens."""
        self._send(command)

    def subscribe(self) -> Subscription:
        """Every event from now on."""
        return self._stream.subscribe()

    async def closed(self) -> None:
        """Return when the session has ended and everything is flushed."""
        await asyncio.shield(self._ended)
