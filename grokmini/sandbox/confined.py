"""A command that a launcher's child has become, as its `CommandHandle`."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from grokmini.sandbox.command import DRAIN_LIMIT, PipedCommand, exit_status
from grokmini.sandbox.pipe import MAX_UNREAD
from grokmini.sandbox.runner import ExitStatus


class SandboxedCommand(PipedCommand):
    """A running command. Made by `SandboxedRunner.start` alone.

    `job` is the socket to its supervisor, which tells the end when nothing of the command is left.
    """

    def __init__(
        self, pid: int, job: socket.socket, output: int, side: int | None, on_end: Callable[[], None]
    ) -> None:
        super().__init__(pid, output, side)
        self._job = job
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._draining: asyncio.Task[None] | None = None
        self._asked = False
        self._loop.add_reader(job, self._on_report)

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
        self._read_rest()
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
    return exit_status(code, left_over)
