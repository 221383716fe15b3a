"""A process that wants to drive a session which another one drives too: `ROOT ID NAME ROUNDS TURNS`.

Each round it waits until it may, goes on with the session by so many turns without waiting for the disk, and
leaves. It prints `items LAST_SEQ` as it found them at the beginning of each round.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from grokmini.protocol.items import AssistantItem, Stored, UserItem, user_text
from grokmini.store.driver_lock import SessionBusyError
from grokmini.store.sessions import OpenSession, SessionStore
from tests.store.ground import delta


async def driven(root: Path, session_id: str) -> OpenSession:
    """The session, as soon as nobody else drives it."""
    while True:
        try:
            return SessionStore(root).open(session_id)
        except SessionBusyError:
            await asyncio.sleep(0.001)


async def compete(root: Path, session_id: str, name: str, rounds: int, turns: int) -> None:
    """Take turns with whoever else does."""
    for number in range(rounds):
        session = await driven(root, session_id)
        print(len(session.items), session.last_seq, flush=True)
        prompts = sum(isinstance(stored.item, UserItem) for stored in session.items)
        for turn in range(turns):
            text = f"{name} {number} {turn}"
            session.files.prompt_started(text, prompts + turn)
            session.files.append(Stored(user_text(text, prompt_index=prompts + turn)))
            session.files.append(Stored(AssistantItem("answer to " + text)))
            session.files.record(delta(session.last_seq + turn + 1, text, trace=text))
        await session.files.close()


if __name__ == "__main__":
    asyncio.run(compete(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])))
