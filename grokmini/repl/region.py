"""The live region of the inline REPL, composed from the state whenever a frame is drawn.

It also knows when time alone changes it: a running second, the end of a hint, the end of a question's guard.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grokmini.protocol.tools import TodoEntry
from grokmini.render.figures import short_path
from grokmini.render.lines import Line, line_of
from grokmini.render.look import DIM, Look
from grokmini.render.transcript import Running, Transcript
from grokmini.repl.doubt import fit
from grokmini.repl.inline_desk import InlineDesk
from grokmini.repl.input import InputView
from grokmini.repl.live import MENU_ROWS, LiveParts, compose, room_for_panel, room_for_tail
from grokmini.repl.overlay import REASON_PROMPT, Overlay
from grokmini.repl.painter import Cursor, LiveView, Size
from grokmini.repl.session_state import SHELL, words_of
from grokmini.repl.status import StatusFacts, status_line
from grokmini.text.width import cell_width, graphemes

INPUT_ROWS = 10
WAITING_AFTER = 3.0
"""Seconds of silence after which the status line says that the model is waited for."""


class LiveRegion:
    """What stands below the finished lines. `clock` is the monotonic clock that keys and events are stamped with.

    `home` is shown as `~`; `work_began` is when the running turn or command began; `todos` is the agent's list.
    `watching` says that another process drives the session.
    """

    def __init__(
        self,
        look: Look,
        desk: InlineDesk,
        transcript: Transcript,
        clock: Callable[[], float],
        *,
        home: str,
        watching: bool = False,
    ) -> None:
        self.transcript = transcript
        self.todos: Sequence[TodoEntry] = ()
        self.work_began = 0.0
        self._look = look
        self._desk = desk
        self._clock = clock
        self._home = home
        self._watching = watching

    def compose(self, size: Size) -> LiveView:
        """The rows as they are now, for a terminal of that size."""
        if size.columns != self.transcript.width:
            self.transcript.resize(size.columns)
        now, desk, state = self._clock(), self._desk, self._desk.state
        desk.follow(now)
        status = status_line(self._facts(now), size.columns, self._look)
        running = self._running(now)
        tail = self.transcript.live(running)
        if desk.overlay is not None:
            rows, cursor = self._question(desk.overlay, size)
            parts = LiveParts(tail, rows, status, cursor, self.todos, state.queue, apart=True)
        elif desk.picker is not None:
            rows, cursor = desk.picker.view(size.columns, room_for_panel(size), self._look)
            parts = LiveParts(tail, rows, status, cursor, self.todos, state.queue)
        else:
            view = self._draft(size)
            cursor = Cursor(view.cursor.row, view.cursor.column)
            parts = LiveParts(tail, view.rows, status, cursor, self.todos, state.queue, view.menu)
        if len(tail) > room_for_tail(parts, size):
            parts = parts._replace(tail=self.transcript.live(running, brief=True))
        return compose(parts, size, self._look)

    def _running(self, now: float) -> Running:
        state = self._desk.state
        seconds = {call_id: now - since for call_id, since in state.running_calls.items()}
        running = Running(seconds)
        if state.writing is not None:
            since = now - state.writing_since
            running = running._replace(call=words_of(state.writing), call_seconds=since)
        if state.shell_running:
            running = running._replace(shell=state.label_of(SHELL), shell_seconds=seconds.get(SHELL, 0.0))
        return running

    def _draft(self, size: Size) -> InputView:
        """The draft and its menu in the room there is; the menu may take all of it but the cursor's row."""
        draft, room = self._desk.draft, max(1, room_for_panel(size) - bool(self._desk.state.queue))
        view = draft.view(size.columns, min(INPUT_ROWS, room), min(MENU_ROWS, room - 1))
        if len(view.rows) + len(view.menu) <= room:
            return view
        return draft.view(size.columns, room - len(view.menu), len(view.menu))

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
            line = _tail_of(REASON_PROMPT, reason.text, size.columns - 1, self._look)
            return [*rows, line], Cursor(len(rows), line.width)
        if below:
            first = draft.text.strip().split("\n", 1)[0]
            rows = [*rows, fit(line_of(f"{self._look.glyphs.prompt} {first}", DIM), size.columns)]
        return rows, None

    def _facts(self, now: float) -> StatusFacts:
        state, desk = self._desk.state, self._desk
        urgent = bool(desk.hint) and now < desk.hint_until
        silent = not state.running_calls and not state.questions and now - state.turn_since >= WAITING_AFTER
        return StatusFacts(
            model=state.model,
            mode="watching" if self._watching else state.mode.value,
            sandbox=state.sandbox,
            context_tokens=state.context_tokens,
            context_window=state.context_window,
            branch=state.branch,
            folder=short_path(state.cwd, home=self._home),
            seconds=int(now - self.work_began) if state.busy else None,
            tokens=state.spent.total,
            cost=state.spent.cost_usd,
            keys="vi: commands" if desk.draft.commanding else "",
            waiting=state.busy and silent,
            hint=desk.hint if urgent else "Ctrl-C stops" if state.busy and not self._watching else "",
            urgent=urgent,
        )


def _tail_of(prompt: str, text: str, width: int, look: Look) -> Line:
    """A prompt and the end of a text that is typed behind it, in one row; the prompt gives way first."""
    shown = list(graphemes(f"{prompt}{text}".replace("\n", " / ")))
    room = max(0, width)
    cells = sum(map(cell_width, shown))
    if cells <= room:
        return line_of("".join(shown))
    room -= cell_width(look.glyphs.ellipsis)
    while shown and cells > max(0, room):
        cells -= cell_width(shown.pop(0))
    return line_of(look.glyphs.ellipsis + "".join(shown) if room > 0 else "")
