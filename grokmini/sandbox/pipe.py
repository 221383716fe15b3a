"""The read end of a pipe from a command, drained by the event loop."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

READ_SIZE: Final = 65_536
MAX_UNREAD: Final = 1_048_576
MAX_SIDE_OUTPUT: Final = 262_144


def side_channel() -> tuple[int, int]:
    """The descriptors of a side channel, for us to read and for the command to write."""
    reading, writing = socket.socketpair()
    return reading.detach(), writing.detach()


def ends(made: tuple[int, int], unless_started: ExitStack, always: ExitStack) -> tuple[int, int]:
    """Ends of which we keep that to read when a command has been started, and the other one never."""
    reading, writing = made
    unless_started.callback(os.close, reading)
    always.callback(os.close, writing)
    return reading, writing


class PipeReader:
    """Reads into memory with a bound on what waits unread.

    At the bound it stops reading until something is taken, or, with `overflow`, throws all away and goes on.
    `on_change` is called whenever there is more, or no more to come.
    """

    def __init__(self, fd: int, on_change: Callable[[], None], bound: int, *, overflow: bool = False) -> None:
        os.set_blocking(fd, False)
        self._fd = fd
        self._on_change = on_change
        self._bound = bound
        self._overflow = overflow
        self.overflowed = False
        self._loop = asyncio.get_running_loop()
        self._reading = False
        self.inode = os.fstat(fd).st_ino
        self.chunks: deque[bytes] = deque()
        self.unread = 0
        self.ended = False
        self.resume()

    def resume(self) -> None:
        """Go on reading after the reader has taken chunks."""
        if not self._reading and not self.ended and self.unread < self._bound:
            self._loop.add_reader(self._fd, self.read_some)
            self._reading = True

    def _pause(self) -> None:
        if self._reading:
            self._loop.remove_reader(self._fd)
            self._reading = False

    def read_some(self) -> None:
        """Read once. Called by the loop when there is something."""
        if self.ended:
            return
        try:
            data = os.read(self._fd, READ_SIZE)
        except BlockingIOError:
            return
        if not data:
            self.close()
        elif not self.overflowed:
            self.chunks.append(data)
            self.unread += len(data)
            if self.unread >= self._bound:
                self._stop_at_bound()
        self._on_change()

    def _stop_at_bound(self) -> None:
        if self._overflow:
            self.overflowed = True
            self.chunks.clear()
            self.unread = 0
        else:
            self._pause()

    def read_all(self) -> None:
        """Read what is there now, up to the bound."""
        before = -1
        while not self.ended and self.unread < self._bound and self.unread != before:
            before = self.unread
            self.read_some()

    def take(self) -> bytes | None:
        """The next chunk, or None when there is none right now."""
        if not self.chunks:
            return None
        data = self.chunks.popleft()
        self.unread -= len(data)
        return data

    def close(self) -> None:
        """Stop reading for good."""
        if not self.ended:
            self._pause()
            self.ended = True
            os.close(self._fd)


class PipeOutput:
    """The pieces of a pipe as they come, for one reader. Cancelling a pending step loses nothing.

    `changed` is the event that the pipe's `on_change` sets.
    """

    def __init__(self, pipe: PipeReader, changed: asyncio.Event) -> None:
        self._pipe = pipe
        self._changed = changed

    def __aiter__(self) -> PipeOutput:
        return self

    async def __anext__(self) -> bytes:
        while True:
            chunk = self._pipe.take()
            if chunk is not None:
                self._pipe.resume()
                return chunk
            if self._pipe.ended:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
