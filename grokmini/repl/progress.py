"""Saying that something still runs, rarely: whole lines, at most one every 5 s, further and further apart."""

from __future__ import annotations

from grokmini.repl.session_state import SessionState, words_of
from grokmini.text.sanitise import sanitise
from grokmini.text.width import cut_to_width

FIRST = 5.0
"""Seconds of silence before the first line; the next follow after twice the time, at most a minute apart."""
LONGEST = 60.0
SILENT = 3.0
"""Seconds without a word after which the model is waited for."""
LABEL_CELLS = 60


class Progress:
    """Decides when a progress line is due. Times are seconds of one monotonic clock."""

    def __init__(self) -> None:
        self._quiet_since: float | None = None
        self._pause = FIRST

    def heard(self, now: float) -> None:
        """Something was printed: start over."""
        self._quiet_since = now
        self._pause = FIRST

    def due(self, state: SessionState) -> float | None:
        """When the next line is due; None while nothing runs or a person is being asked."""
        if not state.busy or state.questions or self._quiet_since is None:
            return None
        return self._quiet_since + self._pause

    def line(self, state: SessionState, now: float) -> str:
        """The line that is due now; the next one is due later."""
        self._quiet_since = now
        self._pause = min(LONGEST, self._pause * 2)
        if not state.running_calls:
            if state.writing is not None:
                call = cut_to_width(sanitise(words_of(state.writing), newlines=False), LABEL_CELLS)
                return f"… a call is being written: {call} ({_seconds(now - state.writing_since)})"
            model, silent = sanitise(state.model, newlines=False), now - state.turn_since
            if silent < SILENT:
                return f"… {model} is still writing; its next line is not complete"
            return f"… still waiting for {model} ({_seconds(silent)})"
        call_id, since = min(state.running_calls.items(), key=lambda item: item[1])
        label = cut_to_width(sanitise(state.label_of(call_id), newlines=False), LABEL_CELLS)
        more = len(state.running_calls) - 1
        others = f" and {more} more" if more else ""
        return f"… still running: {label}{others} ({_seconds(now - since)})"


def _seconds(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
