"""Signals as calls on the event loop, and their way back."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager


@contextmanager
def handled(handlers: Mapping[signal.Signals, Callable[[], None]]) -> Iterator[None]:
    """Call these while inside; afterwards every signal is handled as it was before.

    The loop's own removal would leave Python's default behind, which kills by SIGINT what caught it before.
    """
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number, found in before.items():
            loop.remove_signal_handler(number)
            if found is not None:
                signal.signal(number, found)
