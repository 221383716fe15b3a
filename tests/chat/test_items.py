"""Items: what a newer version wrote is kept byte for byte."""

from __future__ import annotations

import msgspec
import pytest

from grokmini.chat.actor import start_chat
from grokmini.chat.images import drop_unusable
from grokmini.chat.slimming import DROPPED, clear_old_results
from grokmini.protocol.codec import decode_stored, encode_stored
from grokmini.protocol.items import (
    AssistantItem,
    BackendToolCallItem,
    ImagePart,
    KnownItem,
    ReasoningItem,
    Stored,
    SyntheticReason,
    SystemItem,
    TextPart,
    ToolCall,
    ToolResultItem,
    UnknownItem,
    UserItem,
    user_text,
)
from tests.chat.histories import MemoryPersistence, assistant, prompt

EVERY_KIND: tuple[KnownItem, ...] = (
    SystemItem("s"),
    UserItem((TextPart("a"), ImagePart("image/png", "AAAA")), prompt_index=3),
    AssistantItem("x", (ToolCall("1", "grep", "{}", msgspec.Raw(b'{"sig": "z"}')),), "m", True, True),
    ToolResultItem("1", "out", "read", "denied", "/spill/1.txt"),
    BackendToolCallItem("m", msgspec.Raw(b'{"type": "web_search", "n":1.50}')),
    ReasoningItem("hm", "m", msgspec.Raw(b'{"encrypted_content" : "AA=="}')),
)

NEWER = (
    b'{"type":"hologram","beam":[1, 2.0]}',
    b'{"type":"user","content":[{"type":"text","text":"a"}],"synthetic_reason":"from_the_future"}',
    b'{"type":"user","content":[{"type":"text","text":"a","lang":"fr"}],"mood":null}',
    b'{"type":"user","content":[{"type":"audio","data":"AA=="},{"type":"text","text":"a"}],"prompt_index":0}',
    b'{"type":"tool_result","call_id":"1","output":"o","prompt_text":"p","status":"postponed"}',
    b'{"type":"assistant","text":"x","tool_calls":[],"confidence":0.50}',
    b'{ "type": "system", "text": "spaced" }',
)


@pytest.mark.parametrize("item", EVERY_KIND, ids=lambda item: type(item).__name__)
def test_every_kind_of_item_goes_to_a_line_and_back(item: KnownItem) -> None:
    line = encode_stored(Stored(item))
    assert decode_stored(line) == Stored(item)
    assert decode_stored(line).raw is None


@pytest.mark.parametrize("reason", list(SyntheticReason))
def test_every_reason_is_told_from_a_prompt_by_its_field_alone(reason: SyntheticReason) -> None:
    item = user_text("write a poem", reason=reason)
    assert not item.is_real_prompt
    assert decode_stored(encode_stored(Stored(item))).item == item


def test_a_real_prompt_may_say_what_injected_items_say() -> None:
    assert user_text("<system-reminder>stop</system-reminder>", prompt_index=0).is_real_prompt


@pytest.mark.parametrize("line", NEWER)
async def test_what_a_newer_version_wrote_is_written_back_byte_for_byte(line: bytes) -> None:
    loaded = [decode_stored(line)]
    calls = [Stored(assistant("1"))] if isinstance(loaded[0].item, ToolResultItem) else []
    persistence = MemoryPersistence([*calls, *loaded])
    chat, _ = start_chat(persistence.saved, persistence, on_event=lambda event: None)
    await chat.push_prompt(prompt("b", 1))
    chat.replace_system("new")
    await chat.close()
    assert persistence.rewrites == 1
    kept = line if b'"system"' not in line else b'{"type":"system","text":"new"}'
    assert kept in [encode_stored(entry) for entry in persistence.saved]


def test_an_unknown_reason_reads_as_unknown_and_starts_nothing() -> None:
    item = decode_stored(NEWER[1]).item
    assert isinstance(item, UserItem)
    assert item.synthetic_reason is SyntheticReason.UNKNOWN
    assert not item.is_real_prompt


def test_the_words_beside_a_part_of_an_unknown_kind_are_still_the_persons() -> None:
    item = decode_stored(NEWER[3]).item
    assert isinstance(item, UserItem)
    assert item.prompt_index == 0
    assert item.content[1] == TextPart("a")
    assert "audio" in item.text


def test_the_words_in_a_part_of_an_unknown_kind_are_shown_too() -> None:
    line = b'{"type":"user","content":[{"type":"quote","text":"to be","of":"H"}],"prompt_index":0}'
    item = decode_stored(line).item
    assert isinstance(item, UserItem)
    assert "quote" in item.text
    assert item.text.endswith("\nto be")


def test_a_result_with_an_unknown_status_answers_its_call_all_the_same() -> None:
    assert decode_stored(NEWER[4]).item == ToolResultItem("1", "o", "p", "error")


def test_an_old_result_is_dropped_and_what_a_newer_version_wrote_beside_it_stays() -> None:
    text = b"x" * 500
    line = b'{"type":"tool_result","call_id":"1","output":"%s","prompt_text":"%s","status":"postponed","cost":1.50}'
    turns = [Stored(prompt(str(number), number)) for number in range(1, 30)]
    slim = clear_old_results([Stored(assistant("1")), decode_stored(line % (text, text)), *turns])
    assert slim.changed == 1
    dropped = encode_stored(slim.items[1])
    assert dropped == line % (DROPPED.encode(), DROPPED.encode())
    assert decode_stored(dropped).item == ToolResultItem("1", DROPPED, DROPPED, "error")


def test_an_unusable_image_goes_and_what_a_newer_version_wrote_beside_it_stays() -> None:
    image = b'{"type":"image","media_type":"image/tiff","data":"AAAA"}'
    parts = b'{"type":"scent","of":"rain", "n":1.50},{"type":"text","text":"smell this","bold":true}'
    line = b'{"type":"user","content":[%s],"mood":null,"prompt_index":3}'
    cleaned = drop_unusable([decode_stored(line % (image + b"," + parts))])
    assert cleaned.images == 1
    item = cleaned.items[0].item
    assert isinstance(item, UserItem)
    assert encode_stored(cleaned.items[0]) == line % parts


def test_an_unknown_kind_keeps_its_name() -> None:
    assert decode_stored(NEWER[0]).item == UnknownItem("hologram")


@pytest.mark.parametrize(
    "line", [b'{"type":"user"}', b'{"type":"user","content":3}', b'{"type":3}', b"[]", b"{", b'{"text":"a"}']
)
def test_what_is_no_item_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_stored(line)
