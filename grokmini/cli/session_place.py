"""The sessions of the person who runs the program, for the commands that manage them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from grokmini.cli.find_session import find_session
from grokmini.cli.folder import working_folder
from grokmini.config.paths import Places, find_places
from grokmini.protocol.errors import SessionError, UsageError
from grokmini.store.layout import SESSIONS, encode_cwd
from grokmini.store.sessions import SessionInfo, SessionStore, check_listed


def places() -> Places:
    """Our folders. Raises `SessionError` without a home."""
    found = find_places(os.environ)
    if found is None:
        raise SessionError("there is no home folder, so no session is kept", "set GROKMINI_HOME to a folder")
    return found


def session_store() -> SessionStore:
    """The sessions. Raises `SessionError` without a home."""
    return SessionStore(places().state)


def named_sessions(words: Sequence[str]) -> list[SessionInfo]:
    """The sessions that are named, each once. Raises `UsageError` when none is, `SessionError` as `find_session`."""
    if not words:
        raise UsageError("no session is named", "give ids or titles; grokmini sessions lists them")
    store, cwd = session_store(), working_folder(None)
    found = {info.session_id: info for info in (find_session(store, word, cwd) for word in words)}
    return list(found.values())


def session_directories(cwd: Path | None = None) -> list[Path]:
    """Every directory that is a session, or what is left of one; of one folder or of all, in no order.

    Raises `SessionError` when they cannot be listed.
    """
    root = places().state / SESSIONS
    check_listed(root if cwd is None else root / encode_cwd(cwd))
    groups = [root / encode_cwd(cwd)] if cwd is not None else [root / name for name in _names(root)]
    return [group / name for group in groups for name in _names(group)]


def session_ids() -> list[str]:
    """The ids of all of them: of 12,000 the names alone, since a path each would take longer than the list."""
    root = str(places().state / SESSIONS)
    return [name for group in _names(root) for name in _names(f"{root}/{group}")]


def _names(path: Path | str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return []
