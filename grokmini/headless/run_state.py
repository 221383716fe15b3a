"""What is known of a run when it ends: the events folded to one value that every format is written from."""

from __future__ import annotations

from grokmini.protocol.codec import join_surrogates
from grokmini.protocol.events import (
    ErrorInfo,
    EventRecord,
    ModelChanged,
    SessionStarted,
    TurnEnded,
)
from grokmini.protocol.model import Usage


class RunState:
    """The session's id and model, and how the turn ended, as events tell it."""

    def __init__(self) -> None:
        self.session_id = ""
        self.model = ""
        self.prompt_id = ""
        self.ended: TurnEnded | None = None

    def apply(self, record: EventRecord) -> None:
        """Take in one event."""
        self.session_id = record.session_id
        event = record.event
        if isinstance(event, SessionStarted | ModelChanged):
            self.model = event.model
        elif isinstance(event, TurnEnded):
            self.ended = event


def failed_before_start(kind: str, message: str, hint: str, exit_code: int) -> TurnEnded:
    """The end of a run that never had a turn."""
    return TurnEnded(
        prompt_index=0,
        outcome="error",
        exit_code=exit_code,
        text="",
        usage=Usage(),
        error=ErrorInfo(kind, join_surrogates(message), join_surrogates(hint)),
    )


def stopped_before_start(exit_code: int) -> TurnEnded:
    """The end of a run that a signal stopped before it had a turn."""
    return TurnEnded(prompt_index=0, outcome="cancelled", exit_code=exit_code, text="", usage=Usage())
