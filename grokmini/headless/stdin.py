"""What of stdin belongs to a headless prompt (decisions.md, "Command line").

`-`, or no prompt and something piped: all of it. A prompt and a pipe: data that begins within a second of the
start is joined; else the run goes on without it, with not one byte consumed. Terminals and `/dev/null` are
never read.
"""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import Callable
from enum import Enum

from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.errors import UsageError

GRACE_SECONDS = 1.0
MAX_BYTES = 32 * 1024 * 1024
_PIECE = 1 << 16
NO_PROMPT_HINT = "grokmini -p 'what to do', or pipe it: echo 'what to do' | grokmini -p -"


class Source(Enum):
    """What stdin is: nothing to read, a file that is there whole, or a stream that may wait."""

    NOTHING = "nothing"
    FILE = "file"
    STREAM = "stream"


def source_of(fd: int) -> Source:
    """Look at a descriptor without touching what it holds. One that is closed is `NOTHING`."""
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        return Source.NOTHING
    if stat.S_ISREG(mode):
        return Source.FILE
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return Source.STREAM
    return Source.NOTHING


class StdinReader:
    """Reads what belongs to the prompt, beside the start-up of everything else.

    `started` and `clock` are in seconds of the same clock; the grace of one second counts from `started`.
    """

    def __init__(
        self, fd: int, *, started: float, clock: Callable[[], float], say: Callable[[str], None]
    ) -> None:
        self._fd = fd
        self._started = started
        self._clock = clock
        self._say = say

    async def compose(self, prompt: str | None, *, wanted: bool) -> str:
        """The whole prompt: what was typed and what was piped; `wanted` (the word `-`) waits for all of stdin.

        Raises `UsageError` when there is none.
        """
        typed = prompt or ""
        piped = await self._piped(wanted=wanted, alone=not typed)
        text = "\n\n".join(part for part in (typed, piped.strip("\n")) if part.strip())
        if not text:
            raise UsageError("no prompt", NO_PROMPT_HINT)
        return text

    async def _piped(self, *, wanted: bool, alone: bool) -> str:
        source = source_of(self._fd)
        if source is Source.NOTHING and wanted and _is_terminal(self._fd):
            source = Source.STREAM
        if source is Source.NOTHING:
            return ""
        if source is Source.FILE:
            return _decode(_read_file(self._fd))
        if not wanted and not alone and not await self._begins_in_time():
            self._say("nothing on stdin within 1 s: going on without it (use - to wait for it)")
            return ""
        return _decode(await self._read_stream())

    async def _begins_in_time(self) -> bool:
        """Whether the pipe has something to read, or is at its end, before the grace is over."""
        left = max(0.0, self._started + GRACE_SECONDS - self._clock())
        try:
            async with asyncio.timeout(left):
                await _readable(self._fd)
        except TimeoutError:
            return False
        return True

    async def _read_stream(self) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while True:
            await _readable(self._fd)
            piece = os.read(self._fd, _PIECE)
            if not piece:
                return b"".join(pieces)
            size += len(piece)
            if size > MAX_BYTES:
                raise _too_much()
            pieces.append(piece)


async def _readable(fd: int) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(fd)


def _read_file(fd: int) -> bytes:
    pieces: list[bytes] = []
    size = 0
    while piece := os.read(fd, _PIECE):
        size += len(piece)
        if size > MAX_BYTES:
            raise _too_much()
        pieces.append(piece)
    return b"".join(pieces)


def _is_terminal(fd: int) -> bool:
    try:
        return os.isatty(fd)
    except OSError:
        return False


def _decode(data: bytes) -> str:
    return join_surrogates(data.decode("utf-8", "replace").removeprefix("\ufeff"))


def _too_much() -> UsageError:
    return UsageError(
        f"stdin holds more than {MAX_BYTES >> 20} MB, too much for a prompt",
        "name the file in the prompt instead: the agent can read it piece by piece",
    )
