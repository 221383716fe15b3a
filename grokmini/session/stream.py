"""The stream of a session's events: numbered, kept in the log, handed to every subscriber.

A slow subscriber never blocks the engine: of the updates that a later one makes good it gets only the newest
ones. Facts are never dropped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from grokmini.protocol.events import EventRecord, SessionEvent, ToolCallWriting, ToolProgress, UsageReported
from grokmini.session.ports import EventLog

KEPT_UPDATES = 50
_REPAINTABLE = (ToolProgress, UsageReported, ToolCallWriting)


class Subscription:
    """One reader's view of the stream: an async iterator of event records that ends with the session."""

    def __init__(self) -> None:
        self._records: deque[EventRecord] = deque()
        self._repaintable = 0
        self._wake = asyncio.Event()
        self._closed = False

    def __aiter__(self) -> Subscription:
        return self

    async def __anext__(self) -> EventRecord:
        while not self._records:
            if self._closed:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        return self._pop()

    def take_nowait(self) -> EventRecord | None:
        """The next record if there is one right now."""
        return self._pop() if self._records else None

    def put(self, record: EventRecord) -> None:
        """Hand over a record. Never blocks."""
        self._records.append(record)
        if isinstance(record.event, _REPAINTABLE):
            self._repaintable += 1
            if self._repaintable > KEPT_UPDATES:
                self._drop_oldest_update()
        self._wake.set()

    def close(self) -> None:
        """End the iteration after what is already there."""
        self._closed = True
        self._wake.set()

    def _pop(self) -> EventRecord:
        record = self._records.popleft()
        if isinstance(record.event, _REPAINTABLE):
            self._repaintable -= 1
        return record

    def _drop_oldest_update(self) -> None:
        for place, record in enumerate(self._records):
            if isinstance(record.event, _REPAINTABLE):
                del self._records[place]
                self._repaintable -= 1
                return


class EventStream:
    """Numbers events and gives them to the log and to the subscribers, in that order."""

    def __init__(self, session_id: str, log: EventLog, *, next_seq: int, clock: Callable[[], float]) -> None:
        self._session_id = session_id
        self._log = log
        self._next_seq = next_seq
        self._clock = clock
        self._subscriptions: list[Subscription] = []

    def emit(self, event: SessionEvent, trace_id: str = "") -> None:
        """Tell the world. Never blocks."""
        passing = isinstance(event, ToolCallWriting)
        seq = 0 if passing else self._next_seq
        record = EventRecord(seq, self._clock(), self._session_id, event, trace_id)
        if not passing:
            self._next_seq += 1
            self._log.record(record)
        for subscription in self._subscriptions:
            subscription.put(record)

    def subscribe(self) -> Subscription:
        """A reader of everything from now on."""
        subscription = Subscription()
        self._subscriptions.append(subscription)
        return subscription

    def close(self) -> None:
        """End every subscription."""
        for subscription in self._subscriptions:
            subscription.close()
