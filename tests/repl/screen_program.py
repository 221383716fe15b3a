"""A screen on the terminal that this runs on: `python -m tests.repl.screen_program COUNT [step]`.

COUNT numbered lines are finished, each after it has grown word by word in the live rows, as a reply does. With
`step`, keys say how it goes on: `n` finishes five lines at once, any other key ends. Without, it streams, and
the first key ends it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from grokmini.render.lines import line_of
from grokmini.repl.painter import Cursor, LiveView, Size
from grokmini.repl.reflow import reflow_of, settling_of
from grokmini.repl.screen import Screen
from grokmini.repl.tty_mode import TtyMode

PAUSE = 0.01
STEP = 5
END = "end of stream"
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta") * 2
LIVE = "~ "
"""What the line under way begins with, so that it can be told from the finished one."""


def finished_line(number: int) -> str:
    """What line `number` is."""
    return " ".join((f"L{number:03}", *WORDS[: 1 + number * 5 % 13], "."))


class Streaming:
    """Grows line after line in the live rows and gives each out when it is complete."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._tail = ""
        self._note = "streaming"

    async def run(self, count: int, keys: asyncio.Queue[bytes] | None) -> None:
        """Stream so many lines."""
        self._screen.show(self._compose)
        for number in range(count):
            for word in finished_line(number).split():
                self._tail = f"{self._tail} {word}".strip()
                self._screen.show(self._compose)
                await asyncio.sleep(0 if keys else PAUSE)
            self._screen.commit([line_of(self._tail)])
            self._tail = ""
            if keys and number % STEP == STEP - 1:
                self._tail = "tail " + "t" * 50
                self._note = f"step {number + 1}"
                self._screen.show(self._compose)
                await keys.get()
                self._tail = ""
        self._note = END
        self._screen.show(self._compose)

    def _compose(self, size: Size) -> LiveView:
        """The line under way, a draft, a status line as wide as the screen."""
        status = f"status {self._note} ".ljust(size.columns - 1, ".") + "|"
        tail = [(LIVE + self._tail)[: size.columns]] if self._tail else []
        lines = [line_of(row) for row in (*tail, "> draft", status)]
        return LiveView(tuple(lines), Cursor(len(tail), 7))


async def main(count: int, step: bool) -> int:
    """Stream, wait for a key, leave."""
    loop = asyncio.get_running_loop()
    mode = TtyMode(0)
    mode.enter()
    screen = Screen(
        1,
        colour_level=16,
        links=False,
        reflow=reflow_of(os.environ),
        settling=settling_of(os.environ),
        size=lambda: Size(*os.get_terminal_size(1)),
        loop=loop,
        on_gone=lambda error: sys.exit(str(error)),
    )
    loop.add_signal_handler(signal.SIGWINCH, screen.resized)
    keys: asyncio.Queue[bytes] = asyncio.Queue()
    loop.add_reader(0, lambda: keys.put_nowait(os.read(0, 1)))
    screen.enter()
    await Streaming(screen).run(count, keys if step else None)
    await keys.get()
    screen.leave()
    mode.leave()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(int(sys.argv[1]), "step" in sys.argv)))
