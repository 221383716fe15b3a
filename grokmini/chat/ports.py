"""What the chat state needs from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from grokmini.protocol.items import Stored


class ChatPersistence(Protocol):
    """Where the history is kept. The verbs are taken in order by one task; only `flush` is waited for."""

    def append(self, stored: Stored) -> None:
        """Add one item at the end. Never blocks, never fails; trouble is reported by `flush`."""

    def replace(self, items: Sequence[Stored]) -> None:
        """Write the whole history anew (repair, pruning, compaction)."""

    async def flush(self, *, durable: bool = False) -> bool:
        """Wait until all before it is written, with `durable` until it is on the disk itself.

        False when it could not be written: the session then goes on in memory, and the user has been told.
        """
