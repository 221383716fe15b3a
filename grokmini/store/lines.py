"""Values to lines for the disk and back: whatever a text holds, a line is valid JSON in valid UTF-8."""

from __future__ import annotations

from typing import Any

import msgspec

from grokmini.protocol.codec import decode_json, decode_stored, encode_event, encode_stored, join_surrogates
from grokmini.protocol.events import EventRecord
from grokmini.protocol.items import Stored, SyntheticReason, UnknownItem, UserItem


def item_line(stored: Stored) -> bytes:
    """The line of an item. A lone surrogate that slipped in becomes U+FFFD."""
    try:
        return encode_stored(stored)
    except UnicodeEncodeError:
        return encode_stored(Stored(_clean(stored.item)))


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


def event_line(record: EventRecord) -> bytes:
    """The line of an event. Halves of a surrogate pair that now stand together become their character."""
    try:
        return encode_event(record)
    except UnicodeEncodeError:
        return encode_event(_clean(record))


def is_users_own(stored: Stored) -> bool:
    """Whether an item is something of the person's: with one of these a session is worth keeping."""
    if isinstance(stored.item, UnknownItem):
        return True
    return isinstance(stored.item, UserItem) and stored.item.synthetic_reason in (
        None,
        SyntheticReason.SHELL_ESCAPE,
        SyntheticReason.INTERJECTION,
    )


def _clean(value: Any) -> Any:
    """The same value with every text in it put through `join_surrogates`."""
    if isinstance(value, str):
        return join_surrogates(value)
    if isinstance(value, tuple):
        return tuple(_clean(entry) for entry in value)
    if isinstance(value, dict):
        return {_clean(key): _clean(entry) for key, entry in value.items()}
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: _clean(getattr(value, name)) for name in value.__struct_fields__})
    return value
