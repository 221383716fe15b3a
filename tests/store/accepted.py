"""A stored session gone on with as the program does it, and what a strict server says of the next request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from grokmini.chat.actor import start_chat
from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    ImagePart,
    ReasoningItem,
    Stored,
    SyntheticReason,
    SystemItem,
    TextPart,
    ToolCall,
    ToolResultItem,
    UserItem,
    user_text,
)
from grokmini.protocol.model import ModelRequest
from grokmini.sampler.chat_request import encode_body
from grokmini.store.sessions import OpenSession, SessionStore
from tests.chat.histories import MODEL
from tests.chat.wire_formats import request_refusal
from tests.fakes.model_server import unpaired_calls
from tests.store.ground import CWD, turn_events

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SAMPLE_BYTES = 20_000
GO_ON = "go on"


def busy_turn(number: int) -> list[ConversationItem]:
    """A turn with everything in it: an image, reasoning, parallel calls, a refused one, a shell escape."""
    first, second = (ToolCall(f"call-{number}-{letter}", "grep", '{"pattern":"ü"}') for letter in "ab")
    return [
        user_text(f"! ls {number}", reason=SyntheticReason.SHELL_ESCAPE),
        UserItem((TextPart(f"prompt {number} ☃"), ImagePart("image/png", PIXEL)), prompt_index=number),
        ReasoningItem(f"thinking {number}", MODEL.model),
        AssistantItem("I look.", (first, second), MODEL.model),
        ToolResultItem(first.id, "found\n" * 20, "found\n" * 20),
        ToolResultItem(second.id, "no", "no", "denied"),
        user_text(f"and this too {number}", reason=SyntheticReason.INTERJECTION),
        AssistantItem(f"answer {number} " + "long " * 40, model=MODEL.model),
    ]


async def sample_session(root: Path, size: int = SAMPLE_BYTES) -> tuple[OpenSession, list[Stored]]:
    """A closed session whose history is so many bytes long or a little more, and its items."""
    session = SessionStore(root).create(cwd=CWD, model=MODEL.name)
    items = [Stored(SystemItem("Be brief."))]
    written = number = 0
    while written < size:
        session.files.prompt_started(f"prompt {number}", number)
        turn = [Stored(item) for item in busy_turn(number)]
        for stored in items + turn if number == 0 else turn:
            session.files.append(stored)
        for event in turn_events(number):
            session.files.record(event)
        session.files.turn_ended(model=MODEL.name, tokens=number, messages=8 * number)
        items += turn
        number += 1
        assert await session.files.flush()
        written = (session.directory / "chat_history.jsonl").stat().st_size
    await session.files.close()
    return session, items


async def go_on(session: OpenSession) -> ModelRequest:
    """Open a conversation on the session, ask something, close it; the request that is made."""
    chat, _ = start_chat(session.items, session.files, on_event=lambda event: None)
    index = await chat.next_prompt_index()
    assert await chat.push_prompt(user_text(GO_ON, prompt_index=index))
    request = await chat.build_request(request_id="r", model=MODEL, tools=(), conversation_id="c")
    await chat.flush()
    await chat.close()
    await session.files.close()
    return request


def refusal_of(request: ModelRequest) -> str:
    """What the strict fake server, or a strict reader of another API, says of the request; nothing: accepted."""
    messages: Sequence[dict[str, object]] = json.loads(encode_body(request))["messages"]
    if messages[-1]["content"] != GO_ON:
        return f"the last message is {messages[-1]}"
    return unpaired_calls(messages) or request_refusal(request.items)
