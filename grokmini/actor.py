"""The mailbox of an owner task: cancellation first, then commands in order.

One task owns one mutable thing; everyone else holds a handle and sends commands. A command already accepted is
still handled when the actor is stopped; a query whose caller has gone is dropped unanswered.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

C = TypeVar("C")


class Mailbox(Generic[C]):
    """An unbounded first-in first-out queue with one reader, that can be closed.

    `put` never blocks and never fails before `close`; afterwards it raises `RuntimeError`.
    """

    def __init__(self) -> None:
        self._commands: deque[C] = deque()
        self._wake = asyncio.Event()
        self._closed = False

    def __len__(self) -> int:
        return len(self._commands)

    @property
    def closed(self) -> bool:
        """True once no further command is accepted."""
        return self._closed

    def put(self, command: C) -> None:
        """Accept a command."""
        if self._closed:
            raise RuntimeError("the mailbox is closed")
        self._commands.append(command)
        self._wake.set()

    def close(self) -> None:
        """Accept nothing more; what was accepted is still delivered."""
        self._closed = True
        self._wake.set()

    def take_nowait(self) -> C | None:
        """The next command, or None when there is none right now."""
        return self._commands.popleft() if self._commands else None

    async def take(self) -> C | None:
        """The next command; None when the mailbox is closed and empty. Cancelling loses no command."""
        while not self._commands:
            if self._closed:
                return None
            self._wake.clear()
            await self._wake.wait()
        return self._commands.popleft()


async def serve(mailbox: Mailbox[C], handle: Callable[[C], Awaitable[None]]) -> None:
    """Handle commands one at a time until the mailbox is closed and empty.

    Cancelled, it closes the mailbox, handles what was already accepted, and then lets the cancellation go on.
    """
    try:
        while (command := await mailbox.take()) is not None:
            await handle(command)
    except asyncio.CancelledError:
        mailbox.close()
        while (rest := mailbox.take_nowait()) is not None:
            await handle(rest)
        raise
