"""The keyboard of a terminal on the event loop: raw mode, reading, silences, suspending."""

from __future__ import annotations

import asyncio
import os
import select
import signal
from collections.abc import Callable, Sequence

from grokmini.repl.decoder import KeyDecoder
from grokmini.repl.keys import Press
from grokmini.repl.tty_mode import TtyMode

_READ_SIZE = 65_536


class Keyboard:
    """Reads presses from a terminal. `on_gone` is called once when nothing can ever come again."""

    def __init__(
        self, descriptor: int, on_presses: Callable[[Sequence[Press]], None], on_gone: Callable[[], None]
    ) -> None:
        self._descriptor = descriptor
        self._on_presses = on_presses
        self._on_gone = on_gone
        self._mode = TtyMode(descriptor)
        self._decoder = KeyDecoder()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._last_byte = 0.0
        self._ahead = b""
        self._reading = self._paused = False

    def hush(self) -> None:
        """Echo nothing and lose nothing until `quieten` comes. Raises `OSError` when it is no terminal."""
        self._mode.hush()

    def quieten(self) -> None:
        """Set raw mode, so that nothing is echoed but by us. What was typed before is kept for `listen`.

        Raises `OSError` when the descriptor is no terminal.
        """
        self._ahead += self._mode.enter()

    def listen(self) -> None:
        """Hand over what was typed so far and everything from now on."""
        self._loop.add_reader(self._descriptor, self._readable)
        self._reading, self._paused = True, False
        ahead, self._ahead = self._ahead, b""
        if ahead:
            self._last_byte = self._loop.time()
            self._hand_over(self._decoder.feed_typed_ahead(ahead))

    def close(self) -> None:
        """Read no more and put the terminal's mode back."""
        if self._reading:
            self._loop.remove_reader(self._descriptor)
            self._reading = False
        self._paused = False
        if self._timer:
            self._timer.cancel()
        self._mode.leave()

    def reopen(self) -> None:
        """After `close` or `hush`: set raw mode and read, first what was typed meanwhile."""
        try:
            self.quieten()
        except OSError:
            self._on_gone()
            return
        self.listen()

    def suspend(self) -> None:
        """Stop the job and go on when continued."""
        self.stop()
        self.resume()

    def stop(self) -> None:
        """Stop the job as the terminal's own Ctrl-Z would, in the mode that the shell expects.

        The whole process group is meant, so that a wrapper script stops, too. Comes back when continued, before
        anything that was typed meanwhile is read: `resume` does that.
        """
        if self._reading:
            self._loop.remove_reader(self._descriptor)
            self._reading, self._paused = False, True
        if self._timer:
            self._timer.cancel()
        self._mode.leave()
        before = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        try:
            os.kill(0, signal.SIGTSTP)
        finally:
            signal.signal(signal.SIGTSTP, before)

    def resume(self) -> None:
        """Set raw mode again after someone else had the terminal."""
        try:
            self.quieten()
        except OSError:
            self._gone()
            return
        if self._reading or self._paused:
            self.listen()

    def _readable(self) -> None:
        try:
            data = os.read(self._descriptor, _READ_SIZE)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._gone()
            return
        self._last_byte = self._loop.time()
        self._hand_over(self._decoder.feed(data))

    def _hand_over(self, presses: Sequence[Press]) -> None:
        if presses:
            self._on_presses(presses)
        self._arm()

    def _arm(self) -> None:
        """Come back when silence decides something."""
        if self._timer:
            self._timer.cancel()
        wait = self._decoder.wake_in if self._reading else None
        self._timer = None if wait is None else self._loop.call_at(self._last_byte + wait, self._silent)

    def _silent(self) -> None:
        """It was silent, unless we were late and bytes wait to be read."""
        if not self._reading:
            return
        if select.select([self._descriptor], [], [], 0)[0]:
            self._readable()
            return
        self._hand_over(self._decoder.silence(self._loop.time() - self._last_byte))

    def _gone(self) -> None:
        if self._reading:
            self._loop.remove_reader(self._descriptor)
            self._reading = False
        self._on_gone()
