"""A command that a launcher's child has become, as its `CommandHandle`."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from grokmini.sandbox.command import DRAIN_LIMIT, PipedCommand, exit_status
from grokmini.sandbox.pipe import MAX_UNREAD
from grokmini.sandbox.runner import ExitStatus
from grokmini.sandbox.supervisor import SupervisorOf

LOOK_AFTER: Final = 2.0
"""Seconds after which a command that was to end is looked at, and again: its supervisor may have been stopped."""
CONTINUED: Final = 2
"""How often a stopped supervisor is told to go on, before its launcher is ended with all that runs in it."""


class SandboxedCommand(PipedCommand):
    """A running command. Made by `SandboxedRunner.start` alone.

    `job` is the socket to its supervisor, which tells the end when nothing of the command is left. `on_stuck` ends the
    launcher and all in it, where the supervisor is stopped again and again.
    """

    def __init__(
        self,
        pid: int,
        job: socket.socket,
        output: int,
        side: int | None,
        *,
        on_end: Callable[[], None],
        on_stuck: Callable[[], None],
    ) -> None:
        super().__init__(pid, output, side)
        self._job = job
        self._on_end = on_end
        self._on_stuck = on_stuck
        self._supervisor = SupervisorOf(pid)
        self._loop = asyncio.get_running_loop()
        self._draining: asyncio.Task[None] | None = None
        self._asked = False
        self._loop.add_reader(job, self._on_report)

    def abandon(self) -> None:
        """Begin the end of the whole tree and return at once; its supervisor sees it through."""
        if not self._asked:
            self._asked = True
            self._tell(b"T")
            self._look_later(0)

    def _look_later(self, continued: int) -> None:
        self._loop.call_later(LOOK_AFTER, self._look, continued)

    def _look(self, continued: int) -> None:
        """See that its end goes on. Where nothing else keeps commands from it, one can stop its own supervisor."""
        if self._status.done():
            return
        if self._supervisor.stopped:
            if continued == CONTINUED:
                self._on_stuck()
                return
            self._supervisor.go_on()
            continued += 1
        self._look_later(continued)

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
