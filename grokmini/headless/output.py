"""Standard output of a headless run: written by one thread, so that a slow reader never stops the engine."""

from __future__ import annotations

import asyncio
import os
import queue
import threading


class Output:
    """Bytes to a descriptor, in order. `gone` is set when the reader has closed its end.

    Other trouble with writing (disk full) is kept in `error` and also sets `gone`.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._pieces: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._finished = asyncio.Event()
        self.gone = asyncio.Event()
        self.error: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="stdout", daemon=True)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Write soon. Never blocks; after `gone` it does nothing."""
        self._pieces.put(data)

    async def close(self) -> None:
        """Wait until everything is written or nobody reads any more."""
        self._pieces.put(None)
        await self._finished.wait()

    def _run(self) -> None:
        open_ = True
        while open_:
            batch = [self._pieces.get()]
            while not self._pieces.empty():
                batch.append(self._pieces.get())
            open_ = batch[-1] is not None
            if self.error is None:
                self._write_all(b"".join(piece for piece in batch if piece is not None))
        self._tell(self._finished)

    def _write_all(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._fd, view) :]
        except OSError as error:
            self.error = error
            self._tell(self.gone)

    def _tell(self, event: asyncio.Event) -> None:
        try:
            self._loop.call_soon_threadsafe(event.set)
        except RuntimeError:
            return  # the loop has ended: nobody waits any more
