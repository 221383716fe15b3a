"""Cooperative end of long work in a thread: cancelled, or out of time."""

from __future__ import annotations

import time
from collections.abc import Callable

from grokmini.tools.contract import Cancellation


class OutOfTimeError(Exception):
    """The work took longer than it may."""


def checker(cancellation: Cancellation, seconds: float) -> Callable[[], None]:
    """A function to call now and then. Raises `ToolError` (cancelled) or `OutOfTimeError`."""
    until = time.monotonic() + seconds

    def check() -> None:
        cancellation.check()
        if time.monotonic() > until:
            raise OutOfTimeError

    return check
