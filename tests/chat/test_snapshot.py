"""Snapshots: one piece of JSON, whatever wrote it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from grokmini.chat.actor import start_chat
from grokmini.chat.events import ChatEvent, ConversationReset
from grokmini.chat.snapshot import SNAPSHOT_VERSION, ChatStateSnapshot, decode_snapshot, encode_snapshot
from grokmini.protocol.errors import SessionError
from grokmini.protocol.items import AssistantItem, SyntheticReason, UnknownItem, UserItem
from tests.chat.histories import MODEL, MemoryPersistence, prompt, stored
from tests.chat.test_request import full_window

GOLDEN = Path(__file__).parent.parent / "golden" / "chat"


def golden(name: str) -> bytes:
    """A snapshot as some version wrote it."""
    return (GOLDEN / name).read_bytes()


def test_a_snapshot_of_this_version_is_written_back_byte_for_byte() -> None:
    data = golden("snapshot-1.json")
    snapshot = decode_snapshot(data)
    assert encode_snapshot(snapshot) == data
    items = [entry.item for entry in snapshot.stored()]
    assert items[3] == UnknownItem("hologram")
    assert isinstance(items[2], UserItem)
    assert items[2].synthetic_reason is SyntheticReason.UNKNOWN


def test_the_oldest_snapshot_loads_with_a_default_for_every_field_it_lacks() -> None:
    snapshot = decode_snapshot(golden("snapshot-oldest.json"))
    assert [entry.item for entry in snapshot.stored()] == [prompt("a", 3), AssistantItem("x")]
    assert msgspec.structs.replace(snapshot, items=()) == ChatStateSnapshot()


def test_every_field_has_a_default() -> None:
    """Without one an old snapshot could not be loaded any more."""
    assert decode_snapshot(b"{}") == ChatStateSnapshot()
    assert b'"schema_version":%d' % SNAPSHOT_VERSION in encode_snapshot(ChatStateSnapshot())


def test_what_a_newer_version_added_is_passed_over() -> None:
    assert decode_snapshot(b'{"schema_version":99,"flux":[1],"items":[]}').schema_version == 99


@pytest.mark.parametrize("data", [b"", b"[]", b'{"items":3}', b"\xff"])
def test_what_is_no_snapshot_is_refused_in_words(data: bytes) -> None:
    with pytest.raises(SessionError, match="no snapshot"):
        decode_snapshot(data)


async def test_restoring_gives_the_same_history_file_and_next_index() -> None:
    data = golden("snapshot-1.json")
    events: list[ChatEvent] = []
    persistence = MemoryPersistence()
    chat, _ = start_chat(stored(prompt("old", 0)), persistence, on_event=events.append)
    chat.set_model(msgspec.structs.replace(MODEL, context_window=1_000))
    assert await chat.restore(decode_snapshot(data))
    assert await chat.next_prompt_index() == 7
    assert ConversationReset(5) in events
    again = await chat.snapshot()
    assert again.items == decode_snapshot(data).items
    assert (again.next_prompt_index, again.context_window) == (7, 1_000)
    assert [entry.raw for entry in persistence.saved[2:4]] == [bytes(item) for item in again.items[2:4]]
    await chat.close()


async def test_a_damaged_snapshot_changes_nothing() -> None:
    persistence = MemoryPersistence(stored(prompt("a", 0)))
    chat, _ = start_chat(persistence.saved, persistence, on_event=lambda event: None)
    with pytest.raises(SessionError, match="no snapshot"):
        await chat.restore(ChatStateSnapshot(items=(msgspec.Raw(b'{"type":"user"}'),)))
    assert await chat.items() == (prompt("a", 0),)
    assert persistence.rewrites == 0
    await chat.close()


async def test_what_requests_leave_out_is_carried_along() -> None:
    history = stored(*full_window(6))
    small = msgspec.structs.replace(MODEL, context_window=30_000)
    chat, _ = start_chat(history, MemoryPersistence(history), on_event=lambda event: None)
    sent = await chat.build_request(request_id="r", model=small, tools=(), conversation_id="c")
    snapshot = await chat.snapshot()
    assert snapshot.cut_turn == 3
    other, _ = start_chat((), MemoryPersistence(), on_event=lambda event: None)
    await other.restore(snapshot)
    assert (await other.build_request(request_id="r", model=small, tools=(), conversation_id="c")) == sent
    await chat.close()
    await other.close()
