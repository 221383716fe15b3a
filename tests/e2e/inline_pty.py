"""The inline REPL on a bare pty with a terminal in memory at the other end, which answers nothing."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.e2e.program import PROGRAM, SECONDS, Place
from tests.fakes.emulator import Emulator
from tests.fakes.model_server import ModelServer

Settings = list[int | list[bytes | int]]
QUIET = 0.3
"""Seconds without a byte after which a terminal counts as at rest, if nothing better can be waited for."""


class InlinePty:
    """The other end of the program's terminal. `raw` is all that was written, `emulator` what it looks like.

    `found` are the terminal's settings before the program started.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], master: int, slave: int, emulator: Emulator, found: Settings
    ) -> None:
        self.process = process
        self.found = found
        self.emulator = emulator
        self.raw = b""
        self.master = master
        self._slave = slave
        self._undrawn = b""

    def type(self, text: str | bytes) -> None:
        """Press keys: all bytes in one write."""
        os.write(self.master, text.encode() if isinstance(text, str) else text)

    def see(self, text: str, seconds: float = SECONDS) -> None:
        """Wait until the text stands in a line of history or screen."""
        self.wait_until(lambda: any(text in line for line in self.emulator.lines), text, seconds)

    def wait_until(self, true: Callable[[], bool], what: str, seconds: float = SECONDS) -> None:
        """Take what the program writes until the condition holds."""
        end = time.monotonic() + seconds
        while not true():
            left = end - time.monotonic()
            assert left > 0, f"waited in vain for {what!r}:\n" + "\n".join(self.emulator.screen)
            self._take(min(left, 0.05))

    def rest(self, seconds: float = QUIET) -> bytes:
        """Take what is written until nothing more comes for that long; all of it."""
        before = len(self.raw)
        while self._take(seconds):
            pass
        return self.raw[before:]

    def see_quiet(self, seconds: float) -> None:
        """Wait until nothing is written for that long: what writes again and again never comes to that."""
        end = time.monotonic() + SECONDS
        while self._take(seconds):
            assert time.monotonic() < end, f"there are never {seconds} s without a byte"

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size, tell the program, and wait until it has drawn for it."""
        before = len(self.raw)
        self.emulator.resize(columns, rows)
        self.emulator.finish_above(rows)
        _set_size(self._slave, columns, rows)
        self.process.send_signal(signal.SIGWINCH)
        self.wait_until(lambda: len(self.raw) > before and self.emulator.at_rest, "a frame of the new size")

    def count(self, text: str) -> int:
        """In how many lines the text stands."""
        return sum(text in line for line in self.emulator.lines)

    @property
    def settings(self) -> Settings:
        """The terminal's settings, as `stty -g` has them."""
        return termios.tcgetattr(self._slave)

    def ended(self) -> int:
        """Wait for the program's end; its exit code."""
        end = time.monotonic() + SECONDS
        while self.process.poll() is None:
            assert time.monotonic() < end, "the program does not end"
            self._take(0.02)
        while self._take(0):
            pass
        return self.process.returncode

    def close(self) -> None:
        """Close the window, telling nobody."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def read(self) -> None:
        """Take the next bytes, without drawing them."""
        assert select.select([self.master], [], [], SECONDS)[0], "nothing more comes"
        data = os.read(self.master, 65536)
        self.raw += data
        self._undrawn += data

    def pause(self, seconds: float) -> None:
        """Go on taking bytes for so long, without drawing them."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self.master], [], [], left)[0]:
                self.read()

    def _take(self, seconds: float) -> bool:
        """Take bytes that come within so many seconds and draw all that is not drawn yet."""
        came = bool(select.select([self.master], [], [], seconds)[0])
        if came:
            self.read()
        undrawn, self._undrawn = self._undrawn, b""
        self.emulator.feed(undrawn)
        return came


def _set_size(descriptor: int, columns: int, rows: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


@contextmanager
def inline_pty(
    place: Place,
    server: ModelServer,
    columns: int = 80,
    rows: int = 24,
    *words: str,
    emulator: Emulator | None = None,
    **more: str,
) -> Iterator[InlinePty]:
    """The program on a fresh pty."""
    master, slave = os.openpty()
    _set_size(slave, columns, rows)
    found: Settings = termios.tcgetattr(slave)
    env = {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"} | place.environment(server, **more)
    process = subprocess.Popen(
        [str(PROGRAM), *words],
        cwd=place.project,
        env=env,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    person = InlinePty(process, master, slave, emulator or Emulator(columns, rows), found)
    try:
        yield person
    finally:
        process.kill()
        process.wait()
        person.close()
        os.close(slave)
