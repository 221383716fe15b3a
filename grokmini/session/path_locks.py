"""One lock per real path: calls that write the same file run one after another, readers are never held up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path


class PathLocks:
    """Locks made on first use and forgotten when nobody holds or waits for them."""

    def __init__(self) -> None:
        self._locks: dict[Path, asyncio.Lock] = {}
        self._users: dict[Path, int] = {}

    @asynccontextmanager
    async def hold(self, paths: Iterable[Path]) -> AsyncIterator[None]:
        """Hold the locks of all paths, always taken in the same order, so that no two calls block each other."""
        async with AsyncExitStack() as stack:
            for path in sorted(set(paths)):
                await stack.enter_async_context(self._one(path))
            yield

    @asynccontextmanager
    async def _one(self, path: Path) -> AsyncIterator[None]:
        lock = self._locks.setdefault(path, asyncio.Lock())
        self._users[path] = self._users.get(path, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._users[path] -= 1
            if not self._users[path]:
                del self._users[path], self._locks[path]
