"""Waiting for what comes true in the end, on a machine that may stand still for seconds."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS = 50.0
"""For anything to come true; less than a test may take, so that a failure says where it was."""


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, checked often."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


def until_now(condition: Callable[[], object], seconds: float = SECONDS) -> None:
    """The same where no loop runs. Raises `TimeoutError`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the condition never came true")
        threading.Event().wait(0.005)


class Clock:
    """What the loop takes for the time: it stands still but for what it is put forward."""

    def __init__(self, now: float) -> None:
        self.now = now

    def forward(self, seconds: float) -> None:
        """Let so much time pass at once."""
        self.now += seconds


@contextmanager
def standing_clock() -> Iterator[Clock]:
    """The running loop's clock stands still inside, so that no window closes while a test acts within it.

    It goes on when that took too long, since the limit of a test hangs on it too.
    """
    loop = asyncio.get_running_loop()
    begin = loop.time()
    clock = Clock(begin)

    def time() -> float:
        real = type(loop).time(loop)
        return clock.now if real - begin < SECONDS else max(real, clock.now)

    vars(loop)["time"] = time
    try:
        yield clock
    finally:
        del vars(loop)["time"]


def shut(descriptor: int) -> None:
    """Close what the descriptor is of, and keep its number from others: whoever closes it again closes nothing of
    theirs.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, descriptor)
    os.close(nothing)
