"""What every running command has, whatever is around it: its number, its output, its end."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from typing import Final

from grokmini.sandbox.groups import check_group
from grokmini.sandbox.pipe import MAX_SIDE_OUTPUT, MAX_UNREAD, PipeOutput, PipeReader
from grokmini.sandbox.runner import ExitStatus

DRAIN_LIMIT: Final = 2.0
"""Seconds at most that an open pipe is read after its command ended."""


class PipedCommand(ABC):
    """A command whose output is read here (a `CommandHandle`). Raises `SandboxError` for a number that cannot be.

    `output` and `side` are the descriptors to read from.
    """

    def __init__(self, pid: int, output: int, side: int | None) -> None:
        check_group(pid)
        self._pid = pid
        self._changed = asyncio.Event()
        self._output = PipeReader(output, self._changed.set, MAX_UNREAD)
        self._side = None
        if side is not None:
            self._side = PipeReader(side, self._changed.set, MAX_SIDE_OUTPUT, overflow=True)
        self._status: asyncio.Future[ExitStatus] = asyncio.get_running_loop().create_future()

    @property
    def pid(self) -> int:
        """The process id, which is also the group's and the session's."""
        return self._pid

    @property
    def ended(self) -> bool:
        """Whether nothing of the command is left."""
        return self._status.done()

    def output(self) -> AsyncIterator[bytes]:
        """Standard output and error, merged, as they come."""
        return PipeOutput(self._output, self._changed)

    async def side_output(self) -> bytes:
        """What the child wrote to its side channel, whole; nothing when it was too much."""
        await self.wait()
        return b"".join(self._side.chunks) if self._side is not None else b""

    async def wait(self) -> ExitStatus:
        """Wait until the command has ended and nothing is left of it."""
        return await asyncio.shield(self._status)

    async def kill(self) -> None:
        """End the whole tree; returns when it is gone."""
        self.abandon()
        await self.wait()

    @abstractmethod
    def abandon(self) -> None:
        """Begin the end of the whole tree and return at once."""

    def _read_rest(self) -> None:
        """The command itself is over: take what it wrote, up to the bound."""
        self._output.read_all()
        if self._side is not None:
            self._side.read_all()
            self._side.close()


def exit_status(code: int, left_over: int) -> ExitStatus:
    """How a process ended by its exit code, a negative one for a signal."""
    return ExitStatus(code, None, left_over) if code >= 0 else ExitStatus(None, -code, left_over)
