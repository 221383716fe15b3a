"""Which session to open: a new one, this folder's latest, or one by id or title."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from grokmini.cli.options import Options
from grokmini.config.paths import Places
from grokmini.protocol.errors import SessionError
from grokmini.store.sessions import OpenSession, SessionStore, memory_session

WAIT_SECONDS = 30.0
"""How long a run that nobody watches waits for the process that drives the session (spec: persistence.md)."""


class OpenAs(NamedTuple):
    """What the command line asks for. `resume` is an id, the beginning of one, or a title."""

    latest: bool = False
    resume: str = ""
    session_id: str | None = None
    save: bool = True

    @classmethod
    def from_options(cls, options: Options) -> OpenAs:
        """The choice that options make."""
        return cls(options.continue_last, options.resume or "", options.session_id, options.save)

    @property
    def is_new(self) -> bool:
        """Whether a session is made rather than opened."""
        return not self.latest and not self.resume


def open_files(
    open_as: OpenAs, places: Places | None, cwd: Path, *, model: str, branch: str, interactive: bool
) -> OpenSession:
    """Make or open the session's files. Blocks. Raises `SessionError` saying what there is instead."""
    if not open_as.save or places is None:
        if not open_as.is_new:
            raise SessionError(
                "a session that is not saved cannot go on from a saved one", "leave out --no-save"
            )
        session = memory_session(cwd=cwd, model=model)
        return session if places is None else session._replace(notices=())
    store = SessionStore(places.state)
    if open_as.is_new:
        return store.create(cwd=cwd, model=model, session_id=open_as.session_id, branch=branch)
    wait = 0.0 if interactive else WAIT_SECONDS
    return store.open(_wanted(store, open_as, cwd), wait_seconds=wait)


def _wanted(store: SessionStore, open_as: OpenAs, cwd: Path) -> str:
    if open_as.latest:
        info = store.latest(cwd)
        if info is None:
            raise SessionError(f"there is no session to go on with in {cwd}", "start one: grokmini")
        return info.session_id
    found = store.find(open_as.resume)
    if not found:
        raise SessionError(
            f"no session has an id or title that begins with {open_as.resume!r}",
            "grokmini --continue goes on with this folder's latest",
        )
    if len(found) > 1:
        listed = "\n".join(f"  {info.session_id}  {info.summary.title}" for info in found[:8])
        raise SessionError(f"several sessions fit {open_as.resume!r}:\n{listed}", "give more of the id")
    return found[0].session_id
