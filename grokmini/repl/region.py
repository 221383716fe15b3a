"""The live region of the inline REPL, composed from the state whenever a frame is drawn.

It also knows when time alone changes it: a running second, the end of a hint, the end of a question's guard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grokmini.protocol.tools import TodoEntry
from grokmini.render.lines import Line, line_of
from grokmini.render.look import DIM, Look
from grokmini.render.transcript import Transcript
from grokmini.repl.doubt import fit
from grokmini.repl.inline_desk import InlineDesk
from grokmini.repl.live import LiveParts, compose, room_for_panel
from grokmini.repl.overlay import Overlay
from grokmini.repl.painter import Cursor, LiveView, Size
from grokmini.repl.status import StatusFacts, status_line

INPUT_ROWS = 10
WAITING_AFTER = 3.0
"""Seconds of silence after which the status line says that the model is waited for."""


class LiveRegion:
    """What stands below the finished lines. `clock` is the monotonic clock that keys and events are stamped with.

    `work_began` is when the running turn or command began; `todos` is the agent's list.
    """

    def __init__(
        self, look: Look, desk: InlineDesk, transcript: Transcript, clock: Callable[[], float]
    ) -> None:
        self.transcript = transcript
        self.todos: Sequence[TodoEntry] = ()
        self.work_began = 0.0
        self._look = look
        self._desk = desk
        self._clock = clock

    def compose(self, size: Size) -> LiveView:
        """The rows as they are now, for a terminal of that size."""
        if size.columns != self.transcript.width:
            self.transcript.resize(size.columns)
        now, desk, state = self._clock(), self._desk, self._desk.state
        desk.follow(now)
        status = status_line(self._facts(now), size.columns, self._look)
        tail = self.transcript.live()
        if desk.overlay is not None:
            rows, cursor = self._question(desk.overlay, size)
            parts = LiveParts(tail, rows, status, cursor, self.todos, state.queue)
        else:
            view = desk.draft.view(size.columns, max(1, min(INPUT_ROWS, room_for_panel(size))))
            cursor = Cursor(view.cursor.row, view.cursor.column)
            parts = LiveParts(tail, view.rows, status, cursor, self.todos, state.queue, view.menu)
        return compose(parts, size, self._look)

    def next_change(self) -> float | None:
        """When the region looks different by time alone; None for never."""
        now, desk = self._clock(), self._desk
        times = []
        if desk.state.busy:
            times.append(now + 1.0 - (now - self.work_began) % 1.0)
        if desk.hint and desk.hint_until > now:
            times.append(desk.hint_until)
        if desk.overlay and desk.overlay.guarded(now):
            times.append(desk.overlay.guard_until)
        return min(times, default=None)

    def _question(self, overlay: Overlay, size: Size) -> tuple[list[Line], Cursor | None]:
        """The open question; below it the reason that is being typed, or the draft that waits."""
        reason, draft = self._desk.reason, self._desk.draft
        below = reason is not None or not draft.empty
        room = room_for_panel(size) - below
        rows = overlay.view(size.columns, room, self._look, len(self._desk.state.questions) - 1)
        if reason is not None:
            line = line_of(reason.shown().rsplit("\n", 1)[-1])
            return [*rows, line], Cursor(len(rows), min(line.width, size.columns - 1))
        if below:
            first = draft.text.strip().split("\n", 1)[0]
            rows = [*rows, fit(line_of(f"{self._look.glyphs.prompt} {first}", DIM), size.columns)]
        return rows, None

    def _facts(self, now: float) -> StatusFacts:
        state, desk = self._desk.state, self._desk
        hint, urgent = "", False
        if desk.hint and now < desk.hint_until:
            hint, urgent = desk.hint, True
        elif state.busy:
            silent = not state.running_calls and not state.questions and now - state.turn_since >= WAITING_AFTER
            hint = f"waiting for the model{self._look.glyphs.dot}Ctrl-C stops" if silent else "Ctrl-C stops"
        return StatusFacts(
            model=state.model,
            mode=state.mode.value,
            sandbox=state.sandbox,
            context_tokens=state.context_tokens,
            context_window=state.context_window,
            branch=state.branch,
            seconds=int(now - self.work_began) if state.busy else None,
            hint=hint,
            urgent=urgent,
        )
