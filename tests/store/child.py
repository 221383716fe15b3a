"""A process of its own that drives a session, to be killed, starved of disk or made to wait.

`hold ROOT ID` opens the session and keeps it until its input ends. `write ROOT` makes a session and writes turns
without end, printing the number of each acknowledged prompt. `starve ROOT BYTES` writes with a limit on file
sizes until nothing can be saved, then lifts the limit. `lack ROOT CALL ERRNO` makes a session where a system call
fails with that number, writes a turn, prints what it was told, and keeps the session until its input ends.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import cast

from grokmini.protocol.events import Notice
from grokmini.store.sessions import SessionStore
from tests.fakes.disk import files_limited_to
from tests.fakes.kernel import Call, without
from tests.store.ground import delta, exchange, new, tell


async def hold(root: Path, session_id: str) -> None:
    """Be the driver."""
    session = SessionStore(root).open(session_id)
    print("driving", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await session.files.close()


async def write(root: Path) -> None:
    """Write until killed."""
    session = new(root)
    print(session.session_id, flush=True)
    number = seq = 0
    while True:
        session.files.prompt_started(f"prompt {number}", number)
        first, *rest = exchange(number)
        session.files.append(first)
        if await session.files.flush(durable=True):
            print(number, flush=True)
        for stored in rest:
            session.files.append(stored)
        for _ in range(20):
            seq += 1
            session.files.record(delta(seq, f"piece {seq} "))
        if number % 7 == 6:
            session.files.replace([*(item for turn in range(number + 1) for item in exchange(turn))])
        session.files.turn_ended(model="demo", tokens=number, messages=number)
        number += 1


async def starve(root: Path, limit: int) -> None:
    """Run out of disk, go on, get it back."""
    session = new(root)
    print(session.session_id, flush=True)
    notices: list[Notice] = []
    session.files.on_trouble = notices.append
    saved = []
    with files_limited_to(limit):
        for number in range(40):
            for stored in exchange(number):
                session.files.append(stored)
            session.files.record(delta(number + 1, f"piece {number}", trace=str(number)))
            saved.append(await session.files.flush(durable=True))
    saved.append(await session.files.flush(durable=True))
    await asyncio.sleep(0)
    await session.files.close()
    print(saved.index(False), saved.count(False), saved[-1], flush=True)
    print(" ".join(notice.code for notice in notices), flush=True)


async def lack(root: Path, call: Call, number: int) -> None:
    """Drive a session on a file system that cannot do everything."""
    without(call, error=number)
    session = new(root)
    notices = [*session.notices]
    session.files.on_trouble = notices.append
    print(session.session_id, flush=True)
    tell(session, 0)
    print(await session.files.flush(durable=True), *(notice.code for notice in notices), flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await session.files.close()


def main() -> None:
    """Do what the arguments say."""
    what, root, *rest = sys.argv[1:]
    match what:
        case "hold":
            asyncio.run(hold(Path(root), rest[0]))
        case "write":
            asyncio.run(write(Path(root)))
        case "starve":
            asyncio.run(starve(Path(root), int(rest[0])))
        case "lack":
            asyncio.run(lack(Path(root), cast("Call", rest[0]), int(rest[1])))


if __name__ == "__main__":
    main()
