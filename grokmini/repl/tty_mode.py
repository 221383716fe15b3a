"""The terminal's input mode while we read keys, and the way back to how it was found.

Keys come one by one, unechoed, Ctrl-C and Ctrl-Z as bytes. Output processing stays on. Nothing typed ahead is
flushed. Whatever way the program ends that Python can see, `leave` has run: it is called by whoever entered,
and registered with `atexit`. What was found first is what is put back, for good: later someone else's mode may
stand there, of a pager that was killed.
"""

from __future__ import annotations

import atexit
import os
import select
import termios

_IFLAG, _LFLAG, _CC = 0, 3, 6
_INPUT_OFF = (
    termios.ICRNL
    | termios.INLCR
    | termios.IGNCR
    | termios.ISTRIP
    | termios.IXON
    | termios.BRKINT
    | termios.PARMRK
)
_LOCAL_OFF = termios.ECHO | termios.ECHONL | termios.ICANON | termios.ISIG | termios.IEXTEN
_READ_SIZE = 65_536


class TtyMode:
    """Raw input on a terminal."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._found: list[int | list[bytes | int]] | None = None

    def hush(self) -> None:
        """Echo nothing and keep every key for later; Ctrl-C and Ctrl-Z stay signals. Raises `OSError` as `enter`."""
        try:
            self._remember()
            attributes = self._attributes(termios.ECHO | termios.ECHONL | termios.ICANON, 0)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, attributes)
        except termios.error as error:
            raise OSError(*error.args) from error

    def enter(self) -> bytes:
        """Set the mode; the bytes that were typed before. Raises `OSError` when it is no terminal (any more).

        Entered already, the mode is set once more (someone else may have changed it meanwhile).
        """
        try:
            self._remember()
            quiet = self._attributes(termios.ECHO | termios.ECHONL, 0)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, quiet)
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._attributes(_LOCAL_OFF, _INPUT_OFF))
        except termios.error as error:
            raise OSError(*error.args) from error
        return self._typed_ahead()

    def leave(self) -> None:
        """Put back what was found. Harmless when never entered; a terminal that is gone needs nothing, and one that
        another job has by now is set by its shell.
        """
        if self._found is None:
            return
        atexit.unregister(self.leave)
        if self._another_job_s():
            return
        try:
            termios.tcsetattr(self._descriptor, termios.TCSANOW, self._found)
        except termios.error:  # the terminal is gone
            pass

    def _remember(self) -> None:
        if self._found is None:
            self._found = termios.tcgetattr(self._descriptor)
        atexit.unregister(self.leave)
        atexit.register(self.leave)

    def _another_job_s(self) -> bool:
        try:
            return os.tcgetpgrp(self._descriptor) != os.getpgrp()
        except OSError:  # not our controlling terminal, so there are no jobs on it
            return False

    def _attributes(self, local_off: int, input_off: int) -> list[int | list[bytes | int]]:
        assert self._found is not None
        attributes = list(self._found)
        local, input_flags, control = attributes[_LFLAG], attributes[_IFLAG], attributes[_CC]
        assert isinstance(local, int) and isinstance(input_flags, int) and isinstance(control, list)
        attributes[_LFLAG] = local & ~local_off
        attributes[_IFLAG] = input_flags & ~input_off
        if local_off & termios.ICANON:
            control = list(control)
            control[termios.VMIN], control[termios.VTIME] = 1, 0
            attributes[_CC] = control
        return attributes

    def _typed_ahead(self) -> bytes:
        typed = b""
        while select.select([self._descriptor], [], [], 0)[0]:
            piece = os.read(self._descriptor, _READ_SIZE)
            typed += piece
            if len(piece) < _READ_SIZE:
                break
        return typed
