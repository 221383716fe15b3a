"""A session that another process drives, as the REPL sees one: its events come from its file, it takes no commands.

What is stored of the last turns comes first, then what is added, in order and each once; when the driver ends the
person hears how to go on.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from grokmini.chat.context import ContextReport
from grokmini.chat.ledger import UsageReport
from grokmini.protocol.commands import Interject, Prompt, RunShell, SessionCommand, Shutdown
from grokmini.protocol.errors import ExitCode, SessionError
from grokmini.protocol.events import (
    EventRecord,
    Notice,
    PermissionAsked,
    SessionEnded,
    SessionEvent,
    TurnEnded,
    TurnStarted,
)
from grokmini.protocol.model import Usage
from grokmini.session.stream import Subscription
from grokmini.store.driver_lock import holder
from grokmini.store.follow import UpdatesTail

TURNS = 2
"""Turns that a watcher sees of what was before."""

LOOK_SECONDS = 0.2
"""How often the file's entry is looked at while the session is driven."""

IDLE_SECONDS = 1.0
"""The same when nothing came for a while."""

_QUIET_LOOKS = 25


class WatchedSession:
    """Implements `repl.ports.Handle`. `events` ends when the watcher leaves."""

    def __init__(self, directory: Path) -> None:
        self.session_id = directory.name
        self.events = Subscription()
        self.driver: str | None = None
        self._directory = directory
        self._open_turn: TurnStarted | None = None
        self._left = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._watch())

    def send(self, command: SessionCommand) -> None:
        """Only leaving is possible here; anything else is told why not."""
        if isinstance(command, Shutdown):
            self._left.set()
        elif isinstance(command, Prompt | RunShell | Interject):
            text = (
                f"nothing is sent: {self.driver} drives this session"
                if self.driver
                else "/takeover goes on here"
            )
            self._put(Notice("warning", f"{text}; /fork {self.session_id} goes on in a copy", "watched"))
        else:
            driver = self.driver or "whoever drives it"
            self._put(Notice("info", f"that is for {driver} to do: this window only watches", "watched"))

    async def closed(self) -> None:
        """Return when the watching has ended."""
        await asyncio.wait([self._task])

    async def usage(self) -> UsageReport:
        """The driver knows. Raises `SessionError`."""
        raise _only_there("the bill")

    async def context(self) -> ContextReport:
        """The driver knows. Raises `SessionError`."""
        raise _only_there("what fills the window")

    async def _watch(self) -> None:
        try:
            tail = await asyncio.to_thread(UpdatesTail, self._directory, turns=TURNS)
            self.driver = await asyncio.to_thread(holder, self._directory)
            if self.driver:
                self._put(Notice("info", f"watching: {self.driver} drives this session", "watching"))
            while not self._left.is_set():
                await self._follow_driver(tail)
                self._tell_of_end()
                while not self._left.is_set() and await asyncio.to_thread(holder, self._directory) is None:
                    await self._pause(IDLE_SECONDS)
                self.driver = await asyncio.to_thread(holder, self._directory)
        except OSError as error:
            self._put(Notice("error", f"the session cannot be read any more: {error.strerror}", "watching"))
            await self._left.wait()
        finally:
            self.events.close()

    async def _follow_driver(self, tail: UpdatesTail) -> None:
        """Give out what comes until nobody drives the session and all that was said is given out."""
        quiet = 0
        while not self._left.is_set():
            driven = await asyncio.to_thread(holder, self._directory) is not None
            records = await asyncio.to_thread(tail.read) if tail.changed() else []
            for record in records:
                self._give(record)
            if not records and not tail.behind:
                if not driven:
                    return
                quiet += 1
                await self._pause(LOOK_SECONDS if quiet < _QUIET_LOOKS else IDLE_SECONDS)
            else:
                quiet = 0

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._left.wait()
        except TimeoutError:
            return

    def _give(self, record: EventRecord) -> None:
        event = record.event
        if isinstance(event, TurnStarted):
            self._open_turn = event
        elif isinstance(event, TurnEnded):
            self._open_turn = None
        if isinstance(event, PermissionAsked):
            text = f"{event.title} {event.subject}".strip()
            self.events.put(_with(record, Notice("warning", f"asked in the other window: {text}", "watched")))
        elif not isinstance(event, SessionEnded):
            self.events.put(record)

    def _tell_of_end(self) -> None:
        """The driver is gone; a turn that it left open, killed in its midst, will not end any more."""
        if self._open_turn is not None:
            index, self._open_turn = self._open_turn.prompt_index, None
            self._put(TurnEnded(index, "cancelled", ExitCode.SIGTERM, "", Usage(), reason="its process ended"))
        if not self._left.is_set():
            self._put(Notice("info", "nobody drives this session now: /takeover goes on here", "watched"))

    def _put(self, event: SessionEvent) -> None:
        self.events.put(EventRecord(0, time.time(), self.session_id, event))


def _with(record: EventRecord, event: SessionEvent) -> EventRecord:
    return EventRecord(record.seq, record.time, record.session_id, event, record.trace_id)


def _only_there(what: str) -> SessionError:
    return SessionError(f"{what} is known where the session is driven", "/takeover, once it is free there")
