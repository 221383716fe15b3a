"""The one thread that writes to the terminal, with blocking writes, so that a slow one never holds up the rest.

Blocking and a thread, not O_NONBLOCK: that flag would be shared with the shell and every other program on the
same terminal.
"""

from __future__ import annotations

import os
import select
import threading
from collections import deque
from collections.abc import Callable

MAX_BACKLOG = 8_000_000
"""Bytes that may wait before whoever produces them should pause (decisions.md, "Terminal")."""
_PIECE = 65_536


class TerminalWriter:
    """Writes in order, to one or several descriptors. When a descriptor is gone, everything is dropped.

    `on_gone` is called once, from the thread, with the error that writing ended in for good.
    """

    def __init__(self, on_gone: Callable[[OSError], None]) -> None:
        self._on_gone = on_gone
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._backlog = 0
        self._changed = threading.Condition()
        self._when_idle: Callable[[], None] | None = None
        self._closing = False
        self._gone = False
        self._thread = threading.Thread(target=self._run, name="terminal-writer", daemon=True)
        self._thread.start()

    @property
    def full(self) -> bool:
        """Whether so much waits that whoever produces it should pause."""
        return self._backlog > MAX_BACKLOG

    def wait_for_room(self) -> None:
        """Block until not so much waits any more, or the writer has ended."""
        with self._changed:
            self._changed.wait_for(lambda: not self.full or self._closing)

    def busy(self, when_idle: Callable[[], None]) -> bool:
        """Whether something is still to be written. Then `when_idle` is called once, from the thread, after it.

        Only the last call given is kept.
        """
        with self._changed:
            if self._backlog == 0:
                return False
            self._when_idle = when_idle
            return True

    def write(self, descriptor: int, text: str | bytes) -> None:
        """Accept text for a descriptor. Never blocks."""
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        if not data:
            return
        with self._changed:
            if self._gone or self._closing:
                return
            self._waiting.append((descriptor, data))
            self._backlog += len(data)
            self._changed.notify_all()

    def flush(self, seconds: float) -> bool:
        """Wait at most that long; whether everything is written."""
        with self._changed:
            self._changed.wait_for(lambda: self._backlog == 0, seconds)
            return self._backlog == 0

    def close(
        self, seconds: float, descriptor: int, last_words: str, last_seconds: float | None = None
    ) -> bool:
        """Write the rest within the time, then end; whether everything was written.

        What did not go out in time is dropped for the last words, which get `last_seconds`, or the same time
        again.
        """
        written = self.flush(seconds)
        with self._changed:
            if not written and not self._gone:
                data = last_words.encode("utf-8", "replace")
                self._waiting.clear()
                self._waiting.append((descriptor, data))
                self._backlog = len(data)
            self._closing = True
            self._changed.notify_all()
        self._thread.join(seconds if last_seconds is None else last_seconds)
        return written and not self._gone

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                if not self._waiting:
                    return
                descriptor, data = self._waiting.popleft()
            try:
                _write_all(descriptor, data)
            except OSError as error:
                self._give_up(error)
                return
            self._written(len(data))

    def _written(self, count: int) -> None:
        call = None
        with self._changed:
            self._backlog = max(0, self._backlog - count)
            if self._backlog == 0:
                call, self._when_idle = self._when_idle, None
            self._changed.notify_all()
        if call is not None:
            call()

    def _give_up(self, error: OSError) -> None:
        with self._changed:
            self._gone = True
            self._waiting.clear()
            self._backlog = 0
            closing = self._closing
            self._changed.notify_all()
        if not closing:
            self._on_gone(error)


def _write_all(descriptor: int, data: bytes) -> None:
    """Write everything, also where someone else made the descriptor non-blocking. Raises `OSError`."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view[:_PIECE]) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
