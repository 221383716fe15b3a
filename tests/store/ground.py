"""What the tests of the store share: records, a scripted session, a child process that drives one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from grokmini.protocol.events import EventRecord, SessionEvent, TextDelta
from grokmini.protocol.items import AssistantItem, Stored, ToolCall, ToolResultItem, user_text
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


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, checked often."""
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.005)


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
