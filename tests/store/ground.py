"""What the tests of the store share: records, a scripted session, a child process that drives one."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grokmini.protocol.events import (
    EventRecord,
    SessionEvent,
    TextDelta,
    ToolCallReady,
    TurnEnded,
    TurnStarted,
)
from grokmini.protocol.items import AssistantItem, Stored, ToolCall, ToolResultItem, user_text
from grokmini.protocol.model import Usage
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace
from grokmini.store.sessions import OpenSession, SessionStore

CWD = Path("/home/someone/project")
REPOSITORY = Path(__file__).parents[2]


def record(seq: int, event: SessionEvent, trace: str = "p") -> EventRecord:
    """An event in a stream."""
    return EventRecord(seq, 1_000.0 + seq, "s", event, trace)


def delta(seq: int, text: str, trace: str = "p") -> EventRecord:
    """A piece of an answer."""
    return record(seq, TextDelta(text), trace)


def prompt(number: int) -> Stored:
    """What a person asked."""
    return Stored(user_text(f"prompt {number}", prompt_index=number))


def exchange(number: int) -> list[Stored]:
    """A turn with one call."""
    call = ToolCall(f"c{number}", "grep", '{"pattern":"ü"}')
    return [
        prompt(number),
        Stored(AssistantItem("", (call,), "demo-1")),
        Stored(ToolResultItem(call.id, "found\n", "found\n")),
        Stored(AssistantItem(f"answer {number} ☃", model="demo-1")),
    ]


def turn_events(
    number: int, *, ask: str = "", answer: str = "", tool: str = "grep", first: int | None = None
) -> list[EventRecord]:
    """The events of a turn, four of them, numbered so that turns follow one another."""
    seq = 4 * number + 1 if first is None else first
    envelope = ToolEnvelope(tool, ToolKind.SEARCH, ToolNamespace.GROK_BUILD, "", True)
    spent = Usage(calls=1, input=10, output=2)
    events: list[SessionEvent] = [
        TurnStarted(f"p{number}", number, ask or f"prompt {number}"),
        ToolCallReady(f"p{number}-1", envelope, "{}"),
        TextDelta(answer or f"answer {number} ☃"),
        TurnEnded(number, "completed", 0, answer or f"answer {number} ☃", spent, {"demo-1": spent}),
    ]
    return [record(seq + place, event, trace=f"p{number}") for place, event in enumerate(events)]


async def told_session(
    root: Path, turns: int, cwd: Path = CWD, *, ask: str = "", answer: str = ""
) -> OpenSession:
    """A closed session of so many turns with everything a session writes."""
    session = new(root, cwd)
    for number in range(turns):
        tell(session, number, ask=ask, answer=answer)
    await session.files.close()
    return session


def tell(session: OpenSession, number: int, *, ask: str = "", answer: str = "") -> None:
    """One more turn of a session."""
    session.files.prompt_started(ask or f"prompt {number}", number)
    for stored in exchange(number):
        session.files.append(stored)
    for event in turn_events(number, ask=ask, answer=answer):
        session.files.record(event)
    spent = {"demo-1": Usage(calls=number + 1, input=10 * (number + 1))}
    session.files.spent(spent, {"main": spent})
    session.files.turn_ended(model="demo", tokens=10 * (number + 1), messages=4 * (number + 1))


def contents(directory: Path) -> dict[str, bytes]:
    """Every file below a directory, by its path in it, but for locks."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }


def new(root: Path, cwd: Path = CWD) -> OpenSession:
    """A new session."""
    return SessionStore(root).create(cwd=cwd, model="demo")


async def stored_session(root: Path, turns: int, cwd: Path = CWD) -> OpenSession:
    """A session of so many turns, closed again."""
    session = new(root, cwd)
    seq = 0
    for number in range(turns):
        session.files.prompt_started(f"prompt {number}", number)
        for stored in exchange(number):
            session.files.append(stored)
        for text in ("some ", "answer"):
            seq += 1
            session.files.record(delta(seq, text, trace=str(number)))
        session.files.turn_ended(model="demo", tokens=10 * (number + 1), messages=4 * (number + 1))
    await session.files.close()
    return session


@contextmanager
def child(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process running `tests/store/child.py`; gone afterwards whatever happened."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.store.child", *arguments],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def line_from(process: subprocess.Popen[str]) -> str:
    """The next line a child prints."""
    assert process.stdout is not None
    started = time.monotonic()
    line = process.stdout.readline()
    assert line, f"the child ended after {time.monotonic() - started:.1f} s"
    return line.rstrip("\n")
