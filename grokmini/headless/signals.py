"""Signals that stop a headless run: the first one cancels cleanly, a second one leaves at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

from grokmini.protocol.errors import ExitCode

_EXIT_CODES = {
    signal.SIGINT: ExitCode.SIGINT,
    signal.SIGTERM: ExitCode.SIGTERM,
    signal.SIGHUP: ExitCode.SIGHUP,
}


class StopSignals:
    """Listens from construction until `release`.

    `exit_code` is 0 and `reason` "" until a signal came; then `reason` is its name in small letters (`sigterm`).
    `kill_now` is what a second signal does before it leaves: kill the commands that run.
    """

    def __init__(self, kill_now: Callable[[], None] | None = None) -> None:
        self.requested = asyncio.Event()
        self.exit_code = 0
        self.reason = ""
        self.kill_now = kill_now
        self._loop = asyncio.get_running_loop()
        for number in _EXIT_CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._loop.add_signal_handler(number, self._stop, number)

    def release(self) -> None:
        """Give the signals back."""
        for number in _EXIT_CODES:
            self._loop.remove_signal_handler(number)

    def _stop(self, number: signal.Signals) -> None:
        exit_code = _EXIT_CODES[number]
        if self.exit_code:
            try:
                if self.kill_now is not None:
                    self.kill_now()
            finally:
                os._exit(exit_code)
        self.exit_code = exit_code
        self.reason = number.name.lower()
        self.requested.set()
