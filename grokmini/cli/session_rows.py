"""A stored session as a row of a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grokmini.render.session_list import NO_TITLE, Row
from grokmini.text.sanitise import sanitise

if TYPE_CHECKING:
    from grokmini.store.sessions import SessionInfo


def row_of(info: SessionInfo, *, now: float, live: bool, folder: str = "") -> Row:
    """The row of a stored session; `now` in seconds since the epoch."""
    summary = info.summary
    return Row(
        info.session_id,
        sanitise(summary.title, newlines=False) or NO_TITLE,
        max(0.0, now - info.updated),
        summary.turns,
        live,
        summary.pinned,
        sanitise(folder, newlines=False),
    )
