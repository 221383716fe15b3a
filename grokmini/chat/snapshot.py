"""`ChatStateSnapshot`: a conversation in one piece of JSON, for forks and rewinds. An old one always loads."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from grokmini.protocol.codec import decode_stored, encode, encode_stored
from grokmini.protocol.errors import SessionError
from grokmini.protocol.items import Stored

SNAPSHOT_VERSION = 1


class ChatStateSnapshot(msgspec.Struct, frozen=True):
    """The history and what decides how the next request looks; what was spent is no part of it.

    `items` are the lines of the history as they are on disk. Every field has a default: what an older version
    did not write is as in a new conversation. `next_prompt_index` 0 means one more than the items' highest.
    `total_tokens` is the estimate when it was taken.
    """

    schema_version: int = SNAPSHOT_VERSION
    items: tuple[msgspec.Raw, ...] = ()
    next_prompt_index: int = 0
    model: str = ""
    context_window: int = 0
    total_tokens: int = 0
    cut_turn: int = 0
    hidden_images: int = 0

    def stored(self) -> list[Stored]:
        """The items, those of unknown kinds with their lines. Raises `SessionError`."""
        try:
            return [decode_stored(bytes(item)) for item in self.items]
        except msgspec.DecodeError as error:
            raise _damaged(error) from error


def lines_of(stored: Iterable[Stored]) -> tuple[msgspec.Raw, ...]:
    """Items as a snapshot holds them."""
    return tuple(msgspec.Raw(encode_stored(entry)) for entry in stored)


def encode_snapshot(snapshot: ChatStateSnapshot) -> bytes:
    """As JSON."""
    return encode(snapshot)


def decode_snapshot(data: bytes) -> ChatStateSnapshot:
    """From JSON of any version. Raises `SessionError` for what is no snapshot."""
    try:
        return msgspec.json.decode(data, type=ChatStateSnapshot)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> SessionError:
    return SessionError(
        f"This is no snapshot of a conversation ({error}).",
        "Take another one; the session's own history is as it was.",
    )
