"""Lines of the history as the store reads them."""

from __future__ import annotations

import msgspec

from grokmini.protocol.codec import decode_json, decode_stored
from grokmini.protocol.items import Stored, SyntheticReason, UnknownItem, UserItem


def read_item(line: bytes) -> Stored:
    """One line of the history, also one in which another program escaped a lone surrogate.

    Raises `msgspec.DecodeError` for a line that is no item.
    """
    try:
        return decode_stored(line)
    except msgspec.DecodeError:
        if b"\\u" not in line:
            raise
        return decode_stored(msgspec.json.encode(decode_json(line, dict)))


def is_users_own(stored: Stored) -> bool:
    """Whether an item is something of the person's: with one of these a session is worth keeping."""
    if isinstance(stored.item, UnknownItem):
        return True
    return isinstance(stored.item, UserItem) and stored.item.synthetic_reason in (
        None,
        SyntheticReason.SHELL_ESCAPE,
        SyntheticReason.INTERJECTION,
    )
