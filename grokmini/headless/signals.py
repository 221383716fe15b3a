"""Signals that stop a headless run: the first one cancels cleanly, a second one leaves at once."""

from __future__ import annotations

import asyncio
import os
import signal

from grokmini.protocol.errors import ExitCode

_EXIT_CODES = (
    (signal.SIGINT, ExitCode.SIGINT),
    (signal.SIGTERM, ExitCode.SIGTERM),
    (signal.SIGHUP, ExitCode.SIGHUP),
)


class StopSignals:
    """Listens from construction until `release`. `exit_code` is 0 until a signal came."""

    def __init__(self) -> None:
        self.requested = asyncio.Event()
        self.exit_code = 0
        self._loop = asyncio.get_running_loop()
        for number, exit_code in _EXIT_CODES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._loop.add_signal_handler(number, self._stop, exit_code)

    def release(self) -> None:
        """Give the signals back."""
        for number, _ in _EXIT_CODES:
            self._loop.remove_signal_handler(number)

    def _stop(self, exit_code: int) -> None:
        if self.exit_code:
            os._exit(exit_code)
        self.exit_code = exit_code
        self.requested.set()
