"""Sessions as big and as many as the figures ask for, made by writing their files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from grokmini.protocol.codec import encode_event, encode_stored
from grokmini.protocol.events import (
    EventRecord,
    SessionEvent,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from grokmini.protocol.ids import uuid7
from grokmini.protocol.items import (
    AssistantItem,
    ConversationItem,
    Stored,
    ToolCall,
    ToolResultItem,
    user_text,
)
from grokmini.protocol.model import Usage
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace
from grokmini.store.layout import HISTORY, SUMMARY, UPDATES, make_group
from grokmini.store.summary import Summary

RECORDS_A_TURN = 4
ENVELOPE = ToolEnvelope("grep", ToolKind.SEARCH, ToolNamespace.GROK_BUILD, "needle", True)
WORDS = ("the", "parser", "reads", "a", "line", "and", "keeps", "what", "it", "cannot", "understand")


def prose(size: int, seed: int) -> str:
    """Words that differ from seed to seed."""
    start = seed % len(WORDS)
    line = " ".join([*WORDS[start:], *WORDS[:start], f"word{seed}"])
    return (line + "\n") * (size // (len(line) + 1)) + line[: size % (len(line) + 1)]


def turn(number: int, size: int) -> Iterator[ConversationItem]:
    """A prompt, a call, its result and an answer, so many bytes together."""
    call = ToolCall(f"call-{number}", "grep", '{"pattern":"needle"}')
    yield user_text(f"question {number}", prompt_index=number)
    yield AssistantItem("", (call,), "demo-1")
    text = prose(size * 3 // 8, number)
    yield ToolResultItem(call.id, text, text)
    yield AssistantItem(prose(size // 4, number + 1), model="demo-1")


def turn_events(number: int, size: int) -> Iterator[SessionEvent]:
    """What the screen saw of a turn, so many bytes together."""
    call_id = f"{number}-1"
    yield TurnStarted(f"p{number}", number, f"question {number}")
    yield ToolCallReady(call_id, ENVELOPE, '{"pattern":"needle"}')
    yield ToolStarted(call_id)
    yield ToolProgress(call_id, prose(size // 2, number))
    yield ToolFinished(call_id, "ok", "found\n", 0.5)
    answer = prose(size // 2, number + 1)
    yield TextDelta(answer)
    yield TurnEnded(number, "completed", 0, answer[:100], Usage())


def make_session(state: Path, cwd: Path, *, turns: int, history: int, updates: int, seed: int = 0) -> Path:
    """A stored session of so many turns, its history and its events each of about so many bytes."""
    session_id = uuid7()
    directory = make_group(state, cwd) / session_id
    directory.mkdir(mode=0o700)
    with (directory / HISTORY).open("wb") as file:
        for number in range(turns):
            for item in turn(number, history // turns):
                file.write(encode_stored(Stored(item)) + b"\n")
    seq = 0
    with (directory / UPDATES).open("wb") as file:
        for number in range(turns):
            for event in turn_events(number, updates // turns):
                seq += 1
                file.write(encode_event(EventRecord(seq, 1e9 + seq, session_id, event)) + b"\n")
    summary = Summary(
        session_id=session_id,
        cwd=str(cwd),
        title=f"session {seed} {WORDS[seed % len(WORDS)]}",
        model="fake-model",
        created_at=1e9 + seed,
        updated_at=1e9 + seed,
        turns=turns,
        messages=turns * RECORDS_A_TURN,
    )
    (directory / SUMMARY).write_bytes(msgspec.json.encode(summary))
    return directory
