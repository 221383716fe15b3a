"""The one task that writes a session: a thread that takes work in order, so the event loop never waits for a disk.

Events gather in the inbox for half a second; history, turn ends and flushes are written at once. What the disk
refuses stays in memory and is tried again (spec: persistence.md, "Write path").
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, TypeAlias, assert_never

from grokmini.protocol.errors import SessionError
from grokmini.protocol.events import EventRecord, PermissionAsked, SessionEnded, TurnEnded, TurnStarted
from grokmini.protocol.items import Stored
from grokmini.store.lease import REFRESH_SECONDS
from grokmini.store.session_disk import SessionDisk

EVENT_SECONDS = 0.5
RETRY_SECONDS = 5.0
TOUCH_SECONDS = 3_600.0

_AT_ONCE = (TurnStarted, TurnEnded, PermissionAsked, SessionEnded)


class ReplaceHistory(NamedTuple):
    """The whole history anew."""

    items: tuple[Stored, ...]


class ChangeSummary(NamedTuple):
    """New values of fields of the summary."""

    changes: dict[str, object]


class Flush(NamedTuple):
    """Answer once all before this is written. `last` ends the writer."""

    answer: Callable[[bool], None]
    durable: bool = False
    last: bool = False


class LearnFactor(NamedTuple):
    """A model's token factor. It can wait for the next write."""

    model: str
    factor: float


Work: TypeAlias = Stored | EventRecord | ReplaceHistory | ChangeSummary | LearnFactor | Flush


class Trouble(NamedTuple):
    """The first failure of a row, or with no error the end of one. `events_lost` could not be kept in memory;
    `log_deleted` says that the file of earlier events went, and with it what they told. `log_refused` is the
    failure of that file alone: all else is saved.
    """

    error: OSError | SessionError | None
    events_lost: int = 0
    log_deleted: bool = False
    log_refused: OSError | None = None


class SessionWriter:
    """Owner of a `SessionDisk`. `put` and `put_event` may be called from any thread and never block."""

    def __init__(
        self,
        disk: SessionDisk,
        on_trouble: Callable[[Trouble], None],
        *,
        failing: bool = False,
        retry_seconds: float = RETRY_SECONDS,
        touch_seconds: float = TOUCH_SECONDS,
        stay_seconds: float = REFRESH_SECONDS,
        event_seconds: float = EVENT_SECONDS,
    ) -> None:
        """`on_trouble` is called in the writer's thread. `failing`: the disk has already refused once."""
        self._disk = disk
        self._on_trouble = on_trouble
        self._failing = failing
        self._log_refused = False
        self._retry_seconds = retry_seconds
        self._inbox: deque[Work] = deque()
        self._waiting: list[Flush] = []
        self._signal = threading.Event()
        self._urgent = False
        self._event_seconds = event_seconds
        self._events_due: float | None = None
        self._retry_due = time.monotonic() + retry_seconds if failing else None
        self._touch_seconds = touch_seconds
        self._touch_due = time.monotonic() + touch_seconds
        self._stay_seconds = stay_seconds
        self._stay_due: float | None = None
        self._thread = threading.Thread(target=self._run, name="session-writer", daemon=True)
        self._thread.start()

    def put(self, work: Work) -> None:
        """Hand in work that is written at once."""
        self._inbox.append(work)
        self._urgent = True
        self._signal.set()

    def put_later(self, work: Work) -> None:
        """Hand in work that is written whenever something else is."""
        self._inbox.append(work)

    def put_event(self, record: EventRecord) -> None:
        """Hand in an event; it is written within half a second, the ends of things at once."""
        self._inbox.append(record)
        if isinstance(record.event, _AT_ONCE):
            self._urgent = True
            self._signal.set()
        elif self._events_due is None:
            self._events_due = time.monotonic() + self._event_seconds
            self._signal.set()

    def join(self) -> None:
        """Wait for the thread's end: right after the answer to a last flush, so for no time to speak of."""
        self._thread.join()

    def _run(self) -> None:
        try:
            while not self._round():
                pass
        except Exception as error:  # noqa: BLE001 - the outermost frame of the thread
            self._on_trouble(Trouble(SessionError(f"the writer failed ({type(error).__name__}: {error})")))
            self._refuse()

    def _round(self) -> bool:
        """Wait for work and write it; True after the last."""
        self._signal.wait(self._patience())
        self._signal.clear()
        self._keep_alive()
        if not self._is_time():
            return False
        flushes = self._waiting = self._take()
        if self._failing and not flushes and not self._passed(self._retry_due):
            return False
        last = [flush for flush in flushes if flush.last]
        durable = any(flush.durable for flush in flushes)
        quick = durable and not last
        written = self._write(durable=durable, index=not quick)
        for flush in flushes:
            if not flush.last:
                flush.answer(written)
        if quick and written:
            self._write(durable=False, index=True)
        if last:
            self._disk.close()
            for flush in last:
                flush.answer(written)
        self._waiting = []
        return bool(last)

    def _refuse(self) -> None:
        """Keep nobody waiting for a writer that cannot go on."""
        waiting: list[Work] = [*self._waiting]
        while True:
            for work in waiting:
                if isinstance(work, Flush):
                    if work.last:
                        self._disk.close()
                    work.answer(False)
                    if work.last:
                        return
            self._signal.wait()
            self._signal.clear()
            waiting = [self._inbox.popleft() for _ in range(len(self._inbox))]

    def _patience(self) -> float:
        if self._stay_due is None and self._disk.by_lease:
            self._stay_due = time.monotonic() + self._stay_seconds
        moments = (self._events_due, self._retry_due, self._touch_due, self._stay_due)
        return max(0.0, min(moment for moment in moments if moment is not None) - time.monotonic())

    def _keep_alive(self) -> None:
        """What a driver does that has nothing to write: its lease is renewed, its directory touched each hour."""
        try:
            if self._passed(self._stay_due):
                self._stay_due = time.monotonic() + self._stay_seconds
                self._disk.stay()
            if self._passed(self._touch_due):
                self._touch_due = time.monotonic() + self._touch_seconds
                self._disk.touch()
        except (OSError, SessionError) as error:
            self._fail(error)

    def _is_time(self) -> bool:
        """Whether something has to be written now; else events may still gather.

        The mark is taken back only when it was seen, and before the inbox is read: work handed in meanwhile is
        found there, or wakes the next round.
        """
        if self._urgent:
            self._urgent = False
            return True
        return self._passed(self._events_due) or self._passed(self._retry_due)

    def _passed(self, due: float | None) -> bool:
        return due is not None and time.monotonic() >= due

    def _take(self) -> list[Flush]:
        """Everything handed in so far goes to the disk's own lists; the flushes come back."""
        self._events_due = None
        events: list[EventRecord] = []
        flushes: list[Flush] = []
        while self._inbox:
            work = self._inbox.popleft()
            match work:
                case EventRecord():
                    events.append(work)
                case Stored():
                    self._disk.add_item(work)
                case ReplaceHistory():
                    self._disk.replace_items(work.items)
                case ChangeSummary():
                    self._disk.change(work.changes)
                case LearnFactor():
                    self._disk.learn(work.model, work.factor)
                case Flush():
                    flushes.append(work)
                case _:
                    assert_never(work)
        self._disk.add_events(events)
        return flushes

    def _write(self, *, durable: bool, index: bool) -> bool:
        try:
            self._disk.write(durable=durable, index=index)
        except (OSError, SessionError) as error:
            self._fail(error)
            return False
        self._retry_due = None
        refused = self._disk.log_refused
        log_works_again = self._log_refused and refused is None
        if self._failing or log_works_again:
            self._failing = False
            self._on_trouble(Trouble(None, self._disk.events_lost, self._disk.log_deleted))
            self._disk.events_lost, self._disk.log_deleted = 0, False
        if refused is not None and not self._log_refused:
            self._on_trouble(Trouble(None, log_refused=refused))
        self._log_refused = refused is not None
        return True

    def _fail(self, error: OSError | SessionError) -> None:
        self._disk.failed()
        self._retry_due = time.monotonic() + self._retry_seconds
        if not self._failing:
            self._failing = True
            self._on_trouble(Trouble(error))


def answer_on(loop: asyncio.AbstractEventLoop, future: asyncio.Future[bool]) -> Callable[[bool], None]:
    """A callback for another thread that settles a future of the loop; a caller who has gone is no matter."""

    def settle(value: bool) -> None:
        if not future.done():
            future.set_result(value)

    def answer(value: bool) -> None:
        try:
            loop.call_soon_threadsafe(settle, value)
        except RuntimeError:
            pass  # the loop is closed: nobody waits any more

    return answer
