"""Permission questions in linear mode: one at a time, behind a guard, answered on a line of its own."""

from __future__ import annotations

from collections.abc import Callable

from grokmini.protocol.commands import AnswerPermission, SessionCommand
from grokmini.protocol.events import PermissionAsked
from grokmini.protocol.permission import PermissionOption
from grokmini.render.lines import EMPTY
from grokmini.render.look import Look
from grokmini.render.question import option_lines, question_lines
from grokmini.repl.linear_editor import LinearEditor
from grokmini.repl.linear_screen import LinearScreen
from grokmini.repl.question import GUARD, answer_of, keys_of, read_answer
from grokmini.repl.session_state import SessionState

ANSWER_PROMPT = "answer: "
REASON_PROMPT = "what should it do instead? "
KEPT = "what you typed is kept in the draft"


class LinearQuestions:
    """The question that is open, if any. It takes no key until none has come for `GUARD` seconds."""

    def __init__(
        self, screen: LinearScreen, send: Callable[[SessionCommand], None], *, width: int, look: Look
    ) -> None:
        self.width = width
        self.line: LinearEditor | None = None
        self.guard_until: float | None = None
        self._screen = screen
        self._look = look
        self._send = send
        self._asked: PermissionAsked | None = None
        self._reason_for: PermissionOption | None = None
        self._diverted = False

    @property
    def open(self) -> bool:
        """Whether a question is on the screen."""
        return self._asked is not None

    def follow(self, state: SessionState, now: float, last_press: float) -> None:
        """Close the question that is no longer open in the session, ask the next one, end its guard in time."""
        current = state.questions[0] if state.questions else None
        if self._asked and (current is None or current.request_id != self._asked.request_id):
            self._close()
        if current and not self._asked:
            self._asked, self._diverted = current, False
            self.guard_until = max(now, last_press) + GUARD
            self._screen.print([EMPTY, *question_lines(current, self.width, self._look)])
            self._screen.print(option_lines(current.options, self.width, self._look))
        if self.guard_until is not None and now >= self.guard_until:
            self.guard_until = None
            if self._diverted:
                self._screen.say(KEPT)
            self.line = LinearEditor(ANSWER_PROMPT, width=self.width)

    def key_went_by(self, now: float, *, to_draft: bool) -> None:
        """A key came while the guard was up: it waits on. `to_draft` says that the key changed the draft."""
        self.guard_until = now + GUARD
        self._diverted = self._diverted or to_draft

    def submitted(self, typed: str, state: SessionState) -> None:
        """Enter was pressed on the answer or on the reason."""
        assert self._asked is not None
        if self._reason_for:
            self._answer(self._reason_for, typed.strip(), state)
            return
        if not typed:
            return
        option = read_answer(typed, self._asked.options)
        if option is None:
            self._screen.say(f"type {keys_of(self._asked.options)}, then Enter")
        elif option.wants_text:
            self._reason_for = option
            self.line = LinearEditor(REASON_PROMPT, width=self.width)
        else:
            self._answer(option, "", state)

    def _answer(self, option: PermissionOption, text: str, state: SessionState) -> None:
        """Send it. The question counts as closed here at once: its event comes later."""
        assert self._asked is not None
        request_id = self._asked.request_id
        state.close_question(request_id)
        self._close()
        self._send(AnswerPermission(request_id, answer_of(option, text)))

    def _close(self) -> None:
        self._asked = self.guard_until = self.line = self._reason_for = None
        self._screen.end_line()
