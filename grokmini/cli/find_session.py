"""From what a person writes (an id, the beginning of one, a title) to the session that is meant."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from grokmini.protocol.errors import SessionError
from grokmini.protocol.ids import is_session_id, is_session_prefix
from grokmini.render.figures import ago
from grokmini.store.driver_lock import holder
from grokmini.store.sessions import SessionInfo, SessionStore
from grokmini.text.nearest import nearest

SHORTEST_PREFIX = 8
ALL = sys.maxsize
_MOST_LISTED = 8
_MOST_COMPARED = 200


def find_session(store: SessionStore, text: str, cwd: Path) -> SessionInfo:
    """The one session that is meant. Raises `SessionError` when there is none, or several, which are listed.

    An id, or 8 or more of its first characters, counts everywhere; a whole id is never a title. A title counts
    in any case, in this folder first: the whole title before its beginning, one that a person gave before others.
    """
    if is_session_prefix(text):
        found = [info for info in store.find(text) if info.session_id.startswith(text)]
        if found or is_session_id(text):
            return _the_one(found, text)
    for place in (cwd, None):
        infos = store.list(ALL, place)
        if found := _by_title(infos, text):
            return _the_one(found, text)
    raise _none(text, [info.summary.title for info in infos[:_MOST_COMPARED]])


def session_to_follow(store: SessionStore, text: str, cwd: Path) -> SessionInfo:
    """The session to watch: the one named, else this folder's newest that runs, else its newest.

    Raises `SessionError` when there is none.
    """
    if text:
        return find_session(store, text, cwd)
    infos = store.list(ALL, cwd)
    for info in infos:
        if holder(info.directory) is not None:
            return info
    return latest_session(store, cwd)


def latest_session(store: SessionStore, cwd: Path) -> SessionInfo:
    """The folder's newest session. Raises `SessionError` when it has none."""
    info = store.latest(cwd)
    if info is None:
        raise SessionError(
            f"there is no session in {cwd}", "start one: grokmini; grokmini sessions --all lists other folders'"
        )
    return info


def _by_title(infos: Sequence[SessionInfo], text: str) -> list[SessionInfo]:
    wanted = text.casefold()
    if not wanted:
        return []
    same = [info for info in infos if info.summary.title.casefold() == wanted]
    own = [info for info in same if info.summary.title_source == "manual"]
    return own if len(own) == 1 else same or [i for i in infos if i.summary.title.casefold().startswith(wanted)]


def _the_one(found: Sequence[SessionInfo], text: str) -> SessionInfo:
    if not found:
        raise _none(text, ())
    if len(found) == 1:
        return found[0]
    now = time.time()
    listed = "\n".join(
        f"  {info.session_id}  {ago(now - info.updated):>7}  {info.summary.title}"
        for info in found[:_MOST_LISTED]
    )
    more = f"\n  and {len(found) - _MOST_LISTED} more" if len(found) > _MOST_LISTED else ""
    raise SessionError(f"several sessions fit {text!r}:\n{listed}{more}", "name one by its id")


def _none(text: str, titles: Sequence[str]) -> SessionError:
    if len(text) < SHORTEST_PREFIX and set(text) <= set("0123456789abcdef-"):
        hint = f"of an id give {SHORTEST_PREFIX} characters or more"
    elif near := nearest(text, filter(None, titles), 1):
        hint = f"did you mean {near[0]!r}? grokmini sessions lists this folder's"
    else:
        hint = "grokmini sessions lists this folder's, with --all those of every folder"
    return SessionError(f"no session has an id or title that begins with {text!r}", hint)
