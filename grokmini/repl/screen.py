"""The one that owns the terminal's output: finished lines for ever, live rows below, one write a frame.

Everything runs on the event loop, only the writing itself has a thread. While a frame is being written the next
one waits, and then shows the newest wish: so every frame builds on what was really sent, a slow terminal sees
fewer frames, and no finished line is ever dropped. Nothing is scheduled while nothing has changed.
"""

from __future__ import annotations

import asyncio
import atexit
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from grokmini.render.lines import Line
from grokmini.repl.canvas import Canvas
from grokmini.repl.pacing import Pacer
from grokmini.repl.painter import USUAL_SIZE, LiveView, Size, fresh_line, usable
from grokmini.repl.reflow import Reflow
from grokmini.repl.writer import MAX_BACKLOG, TerminalWriter

Wish = LiveView | Callable[[Size], LiveView]
"""What the live rows should be, or a function that composes them when a frame is drawn, for the size it has."""

LEAVE_SECONDS = 2.0
HAND_OVER_SECONDS = 0.75
LAST_WORDS_SECONDS = 0.25

_FRAME_TEXT = 16_384
"""Bytes of finished lines in one frame: what a key press may have to wait for on a slow terminal."""

_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_SANE = f"\x1b[0m\x1b[?25h{_PASTE_OFF}"


class Screen:
    """Output on a terminal. All methods belong to the event loop's thread; `leave` may also come after the loop.

    `size` reads the terminal's size; a new one has to stay for `settling` seconds (`reflow.settling_of`) before more
    than the echo of typed text is drawn. `on_gone` is called on the loop, once, when the terminal can no longer be
    written to. While the live rows are up, whatever is written to file descriptor 2 goes to `stray`, if given.
    """

    def __init__(
        self,
        descriptor: int,
        *,
        colour_level: int,
        links: bool,
        reflow: Reflow,
        settling: float,
        size: Callable[[], Size],
        loop: asyncio.AbstractEventLoop,
        on_gone: Callable[[OSError], None],
        stray: int | None = None,
        leave_seconds: float = LEAVE_SECONDS,
    ) -> None:
        self._descriptor = descriptor
        self._canvas = Canvas(colour_level=colour_level, links=links, reflow=reflow)
        self._settling = settling
        self._read_size = size
        self._loop = loop
        self._on_gone = on_gone
        self._stray = _Stray(stray)
        self._leave_seconds = leave_seconds
        self._writer: TerminalWriter | None = None
        self._pacer = Pacer()
        self._wish: Wish = LiveView()
        self._lines: deque[Line] = deque()
        self._waiting_bytes = 0
        self._controls: list[bytes] = []
        self._next: asyncio.Handle | None = None
        self._next_at = 0.0
        self._seen_size = USUAL_SIZE
        self._quiet_at = 0.0
        self._shown = LiveView()
        self._handed_over = self._blocked = self._gone = self._resizing = False
        self._room = asyncio.Event()
        self._room.set()

    @property
    def size(self) -> Size:
        """The terminal's size now; the last one that was seen when it can no longer be asked."""
        try:
            return usable(self._read_size())
        except OSError:
            return self._seen_size

    @property
    def full(self) -> bool:
        """Whether so much waits to be printed that whoever produces it should await `drained`."""
        return not self._room.is_set()

    async def drained(self) -> None:
        """Wait while `full`."""
        await self._room.wait()

    def enter(self) -> None:
        """Take the terminal: bracketed paste on, live rows on a line of their own."""
        if self._writer is not None:
            return
        self._writer = TerminalWriter(self._report_gone)
        self._blocked = False
        atexit.register(self.leave)
        self._take()

    def commit(self, lines: Sequence[Line]) -> None:
        """Print finished lines above the live rows: once, in order, never to be touched again."""
        if not lines or self._gone:
            return
        self._lines.extend(lines)
        self._waiting_bytes += sum(map(_weight, lines))
        if self._waiting_bytes > MAX_BACKLOG:
            self._room.clear()
        self._request()

    def show(self, wish: Wish) -> None:
        """Have this below the finished lines from the next frame on; the newest wish wins."""
        self._wish = wish
        self._request()

    def urgent(self) -> None:
        """Draw as soon as the loop comes round, whatever the pace: a key was pressed."""
        self._request(urgent=True)

    def resized(self) -> None:
        """The terminal says that its size has changed. It may have changed back meanwhile."""
        self._wait_for_quiet()
        self._request(urgent=True)

    def repaint(self) -> None:
        """Draw all live rows anew: something else wrote over them."""
        self._canvas.forget()
        self._request(urgent=True)

    def emit(self, control: bytes) -> None:
        """Send a control string that draws nothing (title, clipboard, bell) with the next frame."""
        self._controls.append(control)
        self._request(urgent=True)

    def leave(self, *, keep_live: bool = False, rest: str = "") -> None:
        """Give the terminal back in order; what waits is printed before, within `leave_seconds`.

        The live rows are erased unless they are to be kept. `rest` is a line that tells where to find what could
        not be printed in time. May be called again.
        """
        writer = self._writer
        if writer is None:
            return
        if not self._handed_over:
            writer.write(self._descriptor, self._last_frame(keep_live) + _SANE.encode())
        self._release()
        self._writer = None
        last_words = f"\r\n{_SANE}{rest}\r\n" if rest else f"\r\n{_SANE}"
        writer.close(self._leave_seconds, self._descriptor, last_words, LAST_WORDS_SECONDS)
        atexit.unregister(self.leave)

    @contextmanager
    def hand_over(self) -> Iterator[None]:
        """Leave the terminal to another program while inside. Finished lines wait meanwhile."""
        writer = self._writer
        if writer is None or self._handed_over:
            yield
            return
        writer.write(self._descriptor, self._last_frame(keep_live=False) + _SANE.encode())
        self._release()
        self._handed_over = True
        writer.flush(HAND_OVER_SECONDS)
        try:
            yield
        finally:
            self._handed_over = False
            if self._writer is not None:
                self._take()

    def _take(self) -> None:
        self._stray.divert()
        self._canvas.restart()
        self._controls.append(fresh_line(self.size.columns) + _PASTE_ON.encode())
        self._request(urgent=True)

    def _release(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None
        self._stray.restore()

    def _request(self, *, urgent: bool = False) -> None:
        """Have a frame drawn: now, or when the pace allows it."""
        if self._writer is None or self._handed_over or self._blocked or self._gone:
            return
        now = self._loop.time()
        due = now if urgent else max(now, self._pacer.next_frame())
        if self._next is not None:
            if self._next_at <= due:
                return
            self._next.cancel()
        self._next_at = due
        self._next = self._loop.call_at(due, self._frame) if due > now else self._loop.call_soon(self._frame)

    def _frame(self) -> None:
        self._next = None
        writer = self._writer
        if writer is None or self._handed_over or self._gone:
            return
        if writer.busy(self._report_idle):
            self._blocked = True
            return
        now, size = self._loop.time(), self.size
        if not self._is_quiet(size, now):
            writer.write(self._descriptor, self._canvas.echo(self._view(size), size))
            self._next_at = self._quiet_at
            self._next = self._loop.call_at(self._quiet_at, self._frame)
            return
        view = self._view(size)
        if self.size != size:  # it changed while the rows were composed
            self._request(urgent=True)
            return
        lines = self._take_lines()
        text = sum(map(_weight, (*lines, *view.rows))) - sum(map(_weight, self._shown.rows))
        data = self._paint(view, lines, size, now)
        if data:
            self._pacer.drew(now, text)
            writer.write(self._descriptor, data)
        if self._lines:
            self._request(urgent=True)

    def _view(self, size: Size) -> LiveView:
        return self._wish if isinstance(self._wish, LiveView) else self._wish(size)

    def _is_quiet(self, size: Size, now: float) -> bool:
        """Whether the size has stayed as it is for a moment."""
        if size != self._seen_size:
            self._seen_size = size
            self._wait_for_quiet()
        if self._resizing and now < self._quiet_at:
            return False
        if self._resizing and size == self._canvas.drawn.size:
            self._canvas.forget()
        self._resizing = False
        return True

    def _wait_for_quiet(self) -> None:
        if self._canvas.drawn.known:
            now = self._loop.time()
            self._canvas.resized(now)
            self._resizing = True
            self._quiet_at = now + self._settling

    def _paint(
        self, view: LiveView, lines: Sequence[Line], size: Size, now: float, *, settled: bool = True
    ) -> bytes:
        data = self._canvas.frame(lines, view, size, now, settled=settled)
        self._shown = view
        controls = b"".join(self._controls)
        self._controls.clear()
        return controls + data

    def _last_frame(self, keep_live: bool) -> bytes:
        """All that waits, and no live rows, or those last shown with the cursor below them."""
        lines = tuple(self._lines)
        self._lines.clear()
        self._count_waiting(-self._waiting_bytes)
        view = LiveView(self._shown.rows) if keep_live else LiveView()
        now, size = self._loop.time(), self.size
        data = self._paint(view, lines, size, now, settled=self._is_quiet(size, now))
        return data + b"\r\n" if keep_live and view.rows else data

    def _take_lines(self) -> list[Line]:
        taken: list[Line] = []
        weight = 0
        while self._lines and weight < _FRAME_TEXT:
            taken.append(self._lines.popleft())
            weight += _weight(taken[-1])
        self._count_waiting(-weight)
        return taken

    def _count_waiting(self, weight: int) -> None:
        self._waiting_bytes += weight
        if self._waiting_bytes <= MAX_BACKLOG:
            self._room.set()

    def _report_idle(self) -> None:
        self._on_loop(self._unblock)

    def _report_gone(self, error: OSError) -> None:
        self._on_loop(lambda: self._lose(error))

    def _on_loop(self, call: Callable[[], None]) -> None:
        """Called in the writer's thread, also when the loop may have ended."""
        try:
            self._loop.call_soon_threadsafe(call)
        except RuntimeError:  # the loop is closed: nobody is left to be told
            pass

    def _unblock(self) -> None:
        self._blocked = False
        self._frame()

    def _lose(self, error: OSError) -> None:
        self._gone = True
        self._release()
        self._lines.clear()
        self._count_waiting(-self._waiting_bytes)
        self._on_gone(error)


def _weight(line: Line) -> int:
    """About how many bytes the line is."""
    return 2 + sum(len(span.text) for span in line.spans)


class _Stray:
    """File descriptor 2, which libraries write to, led elsewhere for a while."""

    def __init__(self, target: int | None) -> None:
        self._target = target
        self._found: int | None = None

    def divert(self) -> None:
        if self._target is not None and self._found is None:
            self._found = os.dup(2)
            os.dup2(self._target, 2)

    def restore(self) -> None:
        found, self._found = self._found, None
        if found is not None:
            os.dup2(found, 2)
            os.close(found)
