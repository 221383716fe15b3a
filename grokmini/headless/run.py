"""One prompt through a session to its end, and the exit code that says how it went."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from grokmini.headless.formats import Format
from grokmini.headless.output import Output
from grokmini.headless.run_state import RunState
from grokmini.headless.signals import StopSignals
from grokmini.protocol.commands import CancelTurn, Prompt, Shutdown
from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import EventRecord, SessionEvent, TurnEnded, TurnStarted
from grokmini.protocol.ids import short_id
from grokmini.session.handle import SessionHandle
from grokmini.session.stream import Subscription

OUTPUT_CLOSED = "output closed"
"""Why a turn is cancelled whose output nobody reads any more."""


class Onlooker(Protocol):
    """Who follows the run on stderr."""

    def apply(self, event: SessionEvent) -> None:
        """Take in one event."""


class HeadlessRun:
    """Sends a prompt, writes what the format makes of the events, ends the session.

    `events` is a subscription from before the first event, so that every stream begins with `session_started`.

    The exit code is the one that the turn's end says, in the log and in every format. A signal cancels the turn
    under its name (`sigterm`). When the reader of the output goes away the turn is stopped and the session saved;
    that is no error.
    """

    def __init__(
        self,
        handle: SessionHandle,
        events: Subscription,
        *,
        format_: Format,
        output: Output,
        stop: StopSignals,
        onlooker: Onlooker,
        new_id: Callable[[], str] = short_id,
    ) -> None:
        self._handle = handle
        self._events = events
        self._format = format_
        self._output = output
        self._stop = stop
        self._onlooker = onlooker
        self._new_id = new_id
        self._state = RunState()

    async def answer(self, prompt: str) -> int:
        """Run the prompt and end the session. Returns the exit code."""
        self._state.prompt_id = self._new_id()
        self._handle.send(Prompt(self._state.prompt_id, prompt))
        began = asyncio.Event()
        watch = asyncio.create_task(self._cancel_when_told(began))
        exit_code: int | None = None
        try:
            async for record in self._events:
                self._state.apply(record)
                self._onlooker.apply(record.event)
                if isinstance(record.event, TurnEnded):
                    exit_code = self._finish(record, record.event)
                    break
                if isinstance(record.event, TurnStarted):
                    began.set()
                self._write(self._format.event(record))
        finally:
            watch.cancel()
        self._handle.send(Shutdown("done"))
        await self._handle.closed()
        if exit_code is None:
            raise SessionError(
                "the session ended before the answer", "grokmini --continue goes on from what is saved"
            )
        return exit_code

    def _finish(self, record: EventRecord, ended: TurnEnded) -> int:
        self._write(self._format.end(record, ended, self._state))
        return ended.exit_code

    def _write(self, data: bytes) -> None:
        if data:
            self._output.write(data)

    async def _cancel_when_told(self, began: asyncio.Event) -> None:
        """Stop the turn at the first signal, or when nobody reads the output any more.

        Cancelling counts only once there is a turn, so that is waited for.
        """
        await began.wait()
        waits = [asyncio.create_task(event.wait()) for event in (self._stop.requested, self._output.gone)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            self._handle.send(CancelTurn(self._stop.reason or OUTPUT_CLOSED))
        finally:
            for wait in waits:
                wait.cancel()
