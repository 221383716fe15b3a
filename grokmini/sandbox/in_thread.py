"""Making something in a thread that has to be undone when nobody waits for it any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def made_in_thread(make: Callable[[], T], undo: Callable[[T], object]) -> T:
    """What `make` gives in a thread. When this is cancelled meanwhile, `undo` gets it once it is there."""
    making = asyncio.ensure_future(asyncio.to_thread(make))

    def undone(made: asyncio.Future[T]) -> None:
        if not made.cancelled() and made.exception() is None:
            undo(made.result())

    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        making.add_done_callback(undone)
        raise
