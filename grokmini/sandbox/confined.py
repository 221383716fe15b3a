"""A command that a launcher's child has become, as its `CommandHandle`."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final

from grokmini.sandbox.groups import check_group
from grokmini.sandbox.pipe import MAX_SIDE_OUTPUT, MAX_UNREAD, PipeOutput, PipeReader
from grokmini.sandbox.runner import ExitStatus

DRAIN_LIMIT: Final = 2.0
"""Seconds at most that an open pipe is read after its command ended."""


class SandboxedCommand:
    """A running command. Made by `SandboxedRunner.start` alone. Raises `SandboxError` for a number that cannot be.

    `job` is the socket to its supervisor, which tells the end when nothing of the command is left.
    """

    def __init__(
        self, pid: int, job: socket.socket, output: int, side: int | None, on_end: Callable[[], None]
    ) -> None:
        check_group(pid)
        self._pid = pid
        self._job = job
        self._on_end = on_end
        self._changed = asyncio.Event()
        self._output = PipeReader(output, self._changed.set, MAX_UNREAD)
        self._side = None
        if side is not None:
            self._side = PipeReader(side, self._changed.set, MAX_SIDE_OUTPUT, overflow=True)
        self._loop = asyncio.get_running_loop()
        self._status: asyncio.Future[ExitStatus] = self._loop.create_future()
        self._draining: asyncio.Task[None] | None = None
        self._asked = False
        self._loop.add_reader(job, self._on_report)

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

    def abandon(self) -> None:
        """Begin the end of the whole tree and return at once; its supervisor sees it through."""
        if not self._asked:
            self._asked = True
            self._tell(b"T")

    def kill_now(self) -> None:
        """End the whole tree without asking it first; does not wait. May be called by a signal handler."""
        self._tell(b"K")

    async def settled(self) -> None:
        """Wait for everything begun here, so that no task is left behind."""
        if self._draining is not None:
            await asyncio.wait([self._draining])

    def _tell(self, word: bytes) -> None:
        if not self._status.done():
            with suppress(OSError):  # the supervisor is gone, and with it the command
                self._job.send(word)

    def _on_report(self) -> None:
        try:
            report = self._job.recv(64)
        except BlockingIOError:
            return
        except OSError:
            report = b""
        self._loop.remove_reader(self._job)
        self._job.close()
        self._output.read_all()
        if self._side is not None:
            self._side.read_all()
            self._side.close()
        self._status.set_result(status_of(report))
        if not self._output.ended:
            self._draining = asyncio.create_task(self._drain())
        self._changed.set()
        self._on_end()

    async def _drain(self) -> None:
        """Read on for a while, as long as someone takes the output."""
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_LIMIT):
                while not self._output.ended and self._output.unread < MAX_UNREAD:
                    self._changed.clear()
                    await self._changed.wait()
        self._output.close()
        self._changed.set()


def status_of(report: bytes) -> ExitStatus:
    """How a command ended by its supervisor's word; no word: it was lost."""
    if not report:
        return ExitStatus(None, signal.SIGKILL, lost=True)
    code, left_over = map(int, report.split())
    return ExitStatus(code, None, left_over) if code >= 0 else ExitStatus(None, -code, left_over)
