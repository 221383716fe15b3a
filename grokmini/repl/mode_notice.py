"""What of a session's events is printed when: a mode that changed is told once, with the prompt that it counts for.

The status line shows it at once; whoever steps through the modes should not fill the scrollback.
"""

from __future__ import annotations

from collections.abc import Sequence

from grokmini.protocol.events import ModeChanged, SessionEvent, SessionStarted, TurnStarted
from grokmini.protocol.permission import PermissionMode


class ModeNotice:
    """Holds back changes of the permission mode until a turn starts."""

    def __init__(self) -> None:
        self._told: PermissionMode | None = None
        self._held: ModeChanged | None = None

    def due(self, event: SessionEvent) -> Sequence[SessionEvent]:
        """What is to be printed now that this has happened."""
        if isinstance(event, ModeChanged):
            self._held = event
            return ()
        if isinstance(event, SessionStarted):
            self._told, self._held = event.mode, None
        held = self._held
        if not isinstance(event, TurnStarted) or held is None:
            return (event,)
        self._held = None
        before, self._told = self._told, held.mode
        return (event,) if held.mode is before else (held, event)
