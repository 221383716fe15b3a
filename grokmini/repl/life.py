"""The life of a REPL, in either mode: its tasks, how it ends, and closing the session within limits."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import MappingProxyType

from grokmini.protocol.commands import Shutdown
from grokmini.protocol.errors import ExitCode
from grokmini.repl.ports import Handle

WELCOME = ("/ commands", "@ files", "! shell", "Ctrl-J newline", "Ctrl-D leaves")
SESSION_ENDED = "! the session ended by itself: grokmini --debug tells more"
NOT_CLOSED = "! the former session was not closed in time"
CLOSE_SECONDS = 20.0
GONE_SECONDS = 2.5
"""For closing when the terminal is gone or a signal ends us: all is over within 3 s."""
FORCED = (ExitCode.SIGHUP, ExitCode.SIGTERM)
"""Ends that wait for nothing."""
_REASONS = MappingProxyType({int(ExitCode.SIGTERM): "sigterm", int(ExitCode.SIGHUP): "sighup"})
"""What the session is told of why it ends, by the exit code."""


class Life:
    """Runs work beside, and ends once, with an exit code."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._done: asyncio.Future[int] = self._loop.create_future()
        self._hurry = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def over(self) -> bool:
        """Whether the end has been decided."""
        return self._done.done()

    async def end(self) -> int:
        """Wait for the end. Raises what a task failed with."""
        return await self._done

    def finish(self, code: int) -> None:
        """End with this code, unless the end has been decided already."""
        if not self._done.done():
            self._done.set_result(code)

    def signalled(self, code: int) -> None:
        """A signal that ends us; once we are leaving it stops the waiting for the session."""
        if self._done.done():
            self._hurry.set()
        else:
            self.finish(code)

    def hurry(self) -> None:
        """Wait no longer for the session to close."""
        self._hurry.set()

    def start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        """Run work beside; what it fails with ends the program, seen."""
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)
        return task

    def stop(self) -> None:
        """Cancel whatever still runs beside."""
        for task in tuple(self._tasks):
            task.cancel()

    async def close(self, handle: Handle, code: int) -> None:
        """Shut the session down and wait until it is closed, within limits."""
        handle.send(Shutdown(_REASONS.get(code, "quit")))
        waits = [self._loop.create_task(handle.closed()), self._loop.create_task(self._hurried())]
        limit = GONE_SECONDS if code in FORCED else CLOSE_SECONDS
        await asyncio.wait(waits, timeout=limit, return_when=asyncio.FIRST_COMPLETED)
        for task in waits:
            task.cancel()
        await asyncio.sleep(0)

    async def close_former(self, handle: Handle) -> bool:
        """Shut a session down behind another one; whether it closed in time."""
        handle.send(Shutdown("new"))
        try:
            await asyncio.wait_for(handle.closed(), CLOSE_SECONDS)
        except TimeoutError:
            return False
        return True

    async def _hurried(self) -> None:
        await self._hurry.wait()

    def _task_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) and not self._done.done():
            self._done.set_exception(error)


def last_words(handle: Handle) -> str:
    """Where to find what could not be printed any more."""
    return f"rest: grokmini log {handle.session_id}"


def goes_on(handle: Handle) -> str:
    """How to take the session up again."""
    return f"grokmini --resume {handle.session_id} goes on"
