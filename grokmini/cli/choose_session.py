"""Which session to open: a new one, this folder's latest, or one by id or title."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import NamedTuple

from grokmini.cli.find_session import find_session, latest_session
from grokmini.cli.options import Options
from grokmini.cli.report import say
from grokmini.config.paths import Places
from grokmini.protocol.errors import SessionError
from grokmini.store.driver_lock import SessionBusyError, is_driven
from grokmini.store.sessions import OpenSession, SessionStore, memory_session

WAIT_SECONDS = 30.0
"""How long a run that nobody watches waits for the process that drives the session (spec: persistence.md)."""

_ASK_AGAIN_SECONDS = 0.1
_OTHERS = 20
"""How many sessions are looked at for a free one to name."""


class OpenAs(NamedTuple):
    """What the command line asks for. `resume` is an id, the beginning of one, or a title.

    `fork` goes on in a copy, filed under the folder that is worked in.
    """

    latest: bool = False
    resume: str = ""
    session_id: str | None = None
    save: bool = True
    fork: bool = False

    @classmethod
    def from_options(cls, options: Options) -> OpenAs:
        """The choice that options make."""
        return cls(options.continue_last, options.resume or "", options.session_id, options.save, options.fork)

    @property
    def is_new(self) -> bool:
        """Whether a session is made rather than opened."""
        return not self.latest and not self.resume


async def open_files(
    open_as: OpenAs,
    places: Places | None,
    cwd: Path,
    *,
    model: str,
    branch: str,
    interactive: bool,
    wait_seconds: float = WAIT_SECONDS,
) -> OpenSession:
    """Make or open the session's files.

    A session that another process drives is waited for so long at most when nobody watches, else not at all; it
    is never quietly replaced by another. Raises `SessionError` saying what there is instead.
    """
    if not open_as.save or places is None:
        if not open_as.is_new:
            raise SessionError(
                "a session that is not saved cannot go on from a saved one", "leave out --no-save"
            )
        session = memory_session(cwd=cwd, model=model)
        return session if places is None else session._replace(notices=())
    store = SessionStore(places.state)
    if open_as.is_new:
        return await asyncio.to_thread(
            store.create, cwd=cwd, model=model, session_id=open_as.session_id, branch=branch
        )
    session_id = await asyncio.to_thread(_wanted, store, open_as, cwd)
    if open_as.fork:
        from grokmini.store.fork import fork_session

        session_id = (await asyncio.to_thread(fork_session, store, session_id, cwd=cwd)).session_id
    try:
        return await _open_when_free(store, session_id, 0.0 if interactive else wait_seconds)
    except SessionBusyError as error:
        error.hint = await asyncio.to_thread(_instead, store, session_id, cwd)
        raise


async def _open_when_free(store: SessionStore, session_id: str, wait_seconds: float) -> OpenSession:
    """Ask again and again rather than block a thread, so that a signal ends the waiting."""
    deadline = time.monotonic() + wait_seconds
    told = False
    while True:
        try:
            return await asyncio.to_thread(store.open, session_id)
        except SessionBusyError as error:
            if time.monotonic() >= deadline:
                raise
            if not told:
                say(f"session {session_id} is open in {error.holder}: waiting up to {wait_seconds:g} s for it")
                told = True
        await asyncio.sleep(_ASK_AGAIN_SECONDS)


def _wanted(store: SessionStore, open_as: OpenAs, cwd: Path) -> str:
    found = latest_session(store, cwd) if open_as.latest else find_session(store, open_as.resume, cwd)
    return found.session_id


def _instead(store: SessionStore, busy: str, cwd: Path) -> str:
    """What to do about a session that another process drives; the newest free one of the folder by its id."""
    advice = f"leave it there first (/quit), go on in a copy: grokmini --fork --resume={busy}"
    for info in store.list(_OTHERS, cwd):
        if info.session_id != busy and not is_driven(info.directory):
            title = info.summary.title or "no prompt yet"
            return f"{advice}, or with the one before it: grokmini --resume={info.session_id} ({title})"
    return f"{advice}, or start a new one: grokmini"
