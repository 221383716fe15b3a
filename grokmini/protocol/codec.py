"""Protocol values to JSON lines and back, losing nothing.

Decoding is strict. What a newer version wrote survives: an unknown kind becomes an `UnknownItem`, and every
line that encoding would not reproduce is kept beside the value. JSON that holds a lone surrogate goes through
the standard library; a pair is joined and a single one becomes U+FFFD (decisions.md, "Events, commands,
formats").
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, TypeVar, get_args

import msgspec

from grokmini.protocol.events import EVENT_VERSION, EventRecord, SessionEvent
from grokmini.protocol.items import ConversationItem, KnownItem, Stored, ToolStatus, UnknownItem, UserItem

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
_item_decoder = msgspec.json.Decoder(KnownItem)
_event_decoder: msgspec.json.Decoder[SessionEvent] = msgspec.json.Decoder(SessionEvent)


class _Kind(msgspec.Struct):
    type: str


class _Header(msgspec.Struct):
    v: int
    seq: int
    time: float
    session_id: str
    trace_id: str = ""


_kind_decoder = msgspec.json.Decoder(_Kind)
_header_decoder = msgspec.json.Decoder(_Header)

_KNOWN_TAGS = frozenset(
    {"system", "user", "assistant", "tool_result", "backend_tool_call", "reasoning"},
)


def join_surrogates(text: str) -> str:
    """Join surrogate pairs to the characters they stand for; lone surrogates become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def encode(value: object) -> bytes:
    """A protocol value as one line of JSON, without the newline.

    `join_surrogates` is applied where text enters the program; what slipped through is treated so here: a file
    name that is no UTF-8 must not cost a session.
    """
    try:
        return _encoder.encode(value)
    except UnicodeEncodeError:
        return _encoder.encode(clean_surrogates(value))


def decode_json(data: bytes | str, type_: type[T]) -> T:
    """Decode JSON to `type_`, surviving escapes of lone surrogates.

    Raises `msgspec.DecodeError` for what is no JSON and `msgspec.ValidationError` for the wrong shape.
    """
    try:
        return msgspec.json.decode(data, type=type_)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
        if "\\u" not in text:
            raise
        return msgspec.convert(clean_surrogates(_loads(text)), type_)


def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from error


def clean_surrogates(value: Any) -> Any:
    """The same JSON or protocol value with every string in it put through `join_surrogates`."""
    if isinstance(value, str):
        return join_surrogates(value)
    if isinstance(value, list):
        return [clean_surrogates(entry) for entry in value]
    if isinstance(value, tuple):
        return tuple(clean_surrogates(entry) for entry in value)
    if isinstance(value, dict):
        return {clean_surrogates(key): clean_surrogates(entry) for key, entry in value.items()}
    if isinstance(value, msgspec.Struct):
        return type(value)(**{name: clean_surrogates(getattr(value, name)) for name in value.__struct_fields__})
    return value


def encode_stored(stored: Stored) -> bytes:
    """An item as its line on disk: as it was read if nothing changed it, else freshly encoded."""
    return stored.raw if stored.raw is not None else encode(stored.item)


def with_fields(stored: Stored, **changes: object) -> Stored:
    """The item with other values in some fields. What a newer version wrote in other fields stays as it is."""
    item = msgspec.structs.replace(stored.item, **changes)
    if stored.raw is None:
        return Stored(item)
    fields = msgspec.json.decode(stored.raw, type=dict[str, msgspec.Raw])
    fields |= {name: msgspec.Raw(encode(value)) for name, value in changes.items()}
    return Stored(item, encode(fields))


def without_parts(stored: Stored, places: Collection[int]) -> Stored:
    """The user item without some of its parts. The others stay as they are, also those that only a newer version
    knows.
    """
    item = stored.item
    assert isinstance(item, UserItem)
    item = msgspec.structs.replace(
        item, content=tuple(part for place, part in enumerate(item.content) if place not in places)
    )
    if stored.raw is None:
        return Stored(item)
    fields = msgspec.json.decode(stored.raw, type=dict[str, msgspec.Raw])
    parts = msgspec.json.decode(fields["content"], type=list[msgspec.Raw])
    kept = [part for place, part in enumerate(parts) if place not in places]
    return Stored(item, encode(fields | {"content": kept}))


def decode_stored(line: bytes) -> Stored:
    """One line of `chat_history.jsonl`.

    Raises `msgspec.DecodeError` (of which `ValidationError` is a kind) for a line that is no item.
    """
    item: ConversationItem
    try:
        item = _item_decoder.decode(line)
    except msgspec.DecodeError:
        kind = _kind_decoder.decode(line).type
        if kind not in _KNOWN_TAGS:
            return Stored(UnknownItem(kind), line)
        return Stored(_decode_newer(line), line)
    return Stored(item, None if _encoder.encode(item) == line else line)


def _decode_newer(line: bytes) -> KnownItem:
    """An item of a known kind that holds something newer, as far as this version understands it.

    A part of an unknown kind is a text that says so, with the words in it, an unknown status an error. Raises
    `msgspec.DecodeError` for what is no item even so.
    """
    value: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    content = value.get("content")
    if isinstance(content, list):
        value["content"] = [_known_part(part) for part in content]
    if value.get("status", "ok") not in get_args(ToolStatus):
        value["status"] = "error"
    return _item_decoder.decode(_encoder.encode(value))


def _known_part(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind in ("text", "image"):
        return part
    words = part.get("text")
    note = f"[Something of kind {kind!r} was here that this version cannot show.]"
    return {"type": "text", "text": f"{note}\n{words}" if isinstance(words, str) else note}


def encode_event(record: EventRecord) -> bytes:
    """An event with its header as one line of JSON, without the newline."""
    header: dict[str, object] = {
        "v": EVENT_VERSION,
        "seq": record.seq,
        "time": record.time,
        "session_id": record.session_id,
    }
    if record.trace_id:
        header["trace_id"] = record.trace_id
    return _encoder.encode(header)[:-1] + b"," + encode(record.event)[1:]


def decode_event(line: bytes) -> EventRecord:
    """One line of `updates.jsonl`. Raises `msgspec.DecodeError` for a line that is no known event."""
    header = _header_decoder.decode(line)
    event = _event_decoder.decode(line)
    return EventRecord(header.seq, header.time, header.session_id, event, header.trace_id)
