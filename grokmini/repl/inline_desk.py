"""Where presses go in the inline REPL: the open question or the draft, whichever is on top.

Decides and sends commands; draws nothing and knows no terminal, no loop and no clock (times come in).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, assert_never

from grokmini.protocol.commands import (
    AnswerPermission,
    CancelTurn,
    EditQueue,
    Interject,
    SessionCommand,
    SetMode,
)
from grokmini.protocol.permission import PermissionAnswer
from grokmini.repl.input import Input
from grokmini.repl.input_actions import Action, Hint, OpenEditor, Signal, Submit
from grokmini.repl.keys import Burst, Chord, Key, Paste, Press, Text
from grokmini.repl.linear_desk import HOW_TO_LEAVE, LEAVE_AGAIN, LEAVE_HINT, MODE_CYCLE
from grokmini.repl.linear_editor import LinearEditor
from grokmini.repl.linear_questions import KEPT
from grokmini.repl.overlay import REASON_PROMPT, Overlay
from grokmini.repl.picker import Chosen, Picker, SearchFor, Wish
from grokmini.repl.question import keys_of
from grokmini.repl.session_state import SessionState

HINT_SECONDS = 2.0
SENT_NOW = "it goes to the model after this step"
_PAGE_UP, _PAGE_DOWN = Chord("\x1b[5~"), Chord("\x1b[6~")
_NEVER = float("-inf")


class Outlets(NamedTuple):
    """What the desk asks of others. `edit` opens the person's editor on a text, `page` shows a text in the pager,
    `paste` fetches the clipboard, `command` runs the slash command of that name, `picked` does what the open list
    of sessions asks for.
    """

    send: Callable[[SessionCommand], None]
    submit: Callable[[str], None]
    leave: Callable[[], None]
    suspend: Callable[[], None]
    redraw: Callable[[], None]
    edit: Callable[[str], None]
    page: Callable[[str], None]
    command: Callable[[str], None]
    paste: Callable[[], None]
    picked: Callable[[Chosen | SearchFor | Wish], None]


class InlineDesk:
    """One person's keyboard. `now` values are seconds of one monotonic clock."""

    def __init__(self, state: SessionState, draft: Input, outlets: Outlets) -> None:
        self.state = state
        self.draft = draft
        self.overlay: Overlay | None = None
        self.reason: LinearEditor | None = None
        self.picker: Picker | None = None
        self.hint = ""
        self.hint_until = _NEVER
        self._outlets = outlets
        self._last_key = _NEVER
        self._leave_until = _NEVER

    def follow(self, now: float) -> None:
        """Open or close the question as the session says."""
        asked = self.state.questions[0] if self.state.questions else None
        if self.overlay and (asked is None or asked.request_id != self.overlay.asked.request_id):
            self._close_question()
        if asked and self.overlay is None:
            self.overlay = Overlay(asked, now, self._last_key)
        if self.hint == LEAVE_HINT and not self.state.busy:
            self.hint_until = self._leave_until = _NEVER

    def returned(self, now: float) -> None:
        """The terminal was in other hands: what was typed meanwhile answers no question that nobody saw."""
        self._last_key = now
        if self.overlay:
            self.overlay.key_went_by(now)

    def press(self, presses: Sequence[Press], now: float) -> None:
        """Act on presses, in order."""
        for press in presses:
            self._press(press, now)
            self._last_key = now
        self.follow(now)

    def act(self, actions: Sequence[Action], now: float) -> None:
        """Do what the draft asks for."""
        for action in actions:
            self._act(action, now)

    def say(self, hint: str, now: float) -> None:
        """Show a hint for a moment; it is never committed."""
        self.hint, self.hint_until = hint, now + HINT_SECONDS

    def _press(self, press: Press, now: float) -> None:
        if press is Key.INTERRUPT:
            self._interrupt(now)
        elif press is Key.SUSPEND:
            self._outlets.suspend()
        elif press is Key.REDRAW:
            self._outlets.redraw()
        elif self.overlay and not self.overlay.guarded(now):
            self._press_overlay(self.overlay, press, now)
        else:
            if self.overlay:
                self._keep(self.overlay, press, now)
            elif self.picker:
                self._press_picker(self.picker, press)
            else:
                self._press_draft(press, now)

    def _press_picker(self, picker: Picker, press: Press) -> None:
        asked = picker.press(press)
        if isinstance(asked, Chosen) or asked is Wish.CLOSE:
            self.picker = None
        if asked is not None:
            self._outlets.picked(asked)

    def _press_draft(self, press: Press, now: float) -> None:
        if press is Key.UP and self.draft.empty and self.state.queue:
            self._take_back()
            return
        self.act(self.draft.press([press]), now)

    def _act(self, action: Action, now: float) -> None:
        match action:
            case Submit():
                self._outlets.submit(action.text)
            case OpenEditor():
                self._outlets.edit(action.text)
            case Hint():
                self.say(action.text, now)
            case Signal():
                self._act_on(action, now)
            case _:
                assert_never(action)

    def _act_on(self, signal: Signal, now: float) -> None:
        match signal:
            case Signal.EMPTY_ENTER:
                if self.state.busy and self.state.queue:
                    self._outlets.send(Interject(self.state.queue[0].prompt_id))
                    self.say(SENT_NOW, now)
            case Signal.ESCAPE:
                if self.state.busy and not self.overlay:
                    self._stop()
            case Signal.END_OF_FILE:
                self._end_of_file(now)
            case Signal.NEXT_MODE:
                mode = self.state.mode
                place = MODE_CYCLE.index(mode) + 1 if mode in MODE_CYCLE else 0
                self.state.mode = MODE_CYCLE[place % len(MODE_CYCLE)]  # the next press goes on from there
                self._outlets.send(SetMode(self.state.mode))
            case Signal.TRANSCRIPT:
                self._outlets.command("transcript")
            case Signal.PASTE:
                self._outlets.paste()
            case Signal.CHANGED | Signal.INTERRUPT | Signal.SUSPEND | Signal.REDRAW | Signal.BACKGROUND:
                pass
            case _:
                assert_never(signal)

    def _press_overlay(self, overlay: Overlay, press: Press, now: float) -> None:
        if press is Key.END_OF_FILE and not (self.reason and self.reason.text):
            self._end_of_file(now)
        elif self.reason is not None:
            self._press_reason(overlay, self.reason, press)
        elif press in (Key.UP, Key.DOWN):
            overlay.scroll(-1 if press is Key.UP else 1)
        elif press in (_PAGE_UP, _PAGE_DOWN):
            overlay.scroll(-overlay.page if press == _PAGE_UP else overlay.page)
        elif isinstance(press, Text) and len(press.text) == 1:
            self._press_answer(overlay, press.text, now)
        elif isinstance(press, Text | Paste | Burst):
            # several characters at once were meant for something else, and answer nothing
            self._keep(overlay, press, now)
        elif overlay.drafted and press not in (Key.ENTER, Key.ESCAPE):
            self._keep(overlay, press, now)  # who typed words takes them back, or mends them
            overlay.drafted = "" if self.draft.empty else overlay.drafted
        else:
            self._say_answers(overlay, now)

    def _press_answer(self, overlay: Overlay, typed: str, now: float) -> None:
        if typed == "d" and overlay.asked.diff and not overlay.drafted:
            self._outlets.page(overlay.asked.diff)
            return
        answer = overlay.choose(typed)
        if answer is not None:
            self._answer(overlay, answer, typed)
        elif overlay.reason_for is not None:
            self.reason = LinearEditor(REASON_PROMPT, width=80)
        elif typed.isdigit():
            self._say_answers(overlay, now)
        else:
            self._keep(overlay, Text(typed), now)

    def _keep(self, overlay: Overlay, press: Press, now: float) -> None:
        """A press that is none of the question's: the draft has it, and the question waits on."""
        overlay.key_went_by(now, press.text if isinstance(press, Text) else "")
        self._press_draft(press, now)
        if isinstance(press, Text | Paste | Burst) and not self.draft.empty:
            self.say(KEPT, now)

    def _say_answers(self, overlay: Overlay, now: float) -> None:
        self.say(f"{keys_of(overlay.asked.options)} answers, Ctrl-C denies and stops", now)

    def _press_reason(self, overlay: Overlay, reason: LinearEditor, press: Press) -> None:
        if press is Key.ESCAPE:
            overlay.back()
            self.reason = None
            return
        edit = reason.press(press)
        if edit.submitted is not None:
            self._answer(overlay, overlay.reason(edit.submitted))

    def _answer(self, overlay: Overlay, answer: PermissionAnswer, typed: str = "") -> None:
        """Send it. The question counts as closed here at once: its event comes later.

        A key that came too early to answer, and was then pressed again, was meant for no draft.
        """
        if overlay.drafted and overlay.drafted == self.draft.text == typed * len(overlay.drafted):
            self.draft.set_text("")
        self.state.close_question(overlay.asked.request_id)
        self._close_question()
        self._outlets.send(AnswerPermission(overlay.asked.request_id, answer))

    def _close_question(self) -> None:
        """With what was said of it."""
        self.overlay = self.reason = None
        self.hint_until = _NEVER

    def _interrupt(self, now: float) -> None:
        if self.state.busy or self.overlay:
            self._stop()
        elif self.picker:
            self.picker = None
        elif not self.draft.interrupt():
            self.say(HOW_TO_LEAVE, now)

    def _end_of_file(self, now: float) -> None:
        if not self.state.busy or now < self._leave_until:
            self._outlets.leave()
            return
        self._leave_until = now + LEAVE_AGAIN
        self.say(LEAVE_HINT, now)

    def _stop(self) -> None:
        """Stop what runs. Nothing else starts in its place: the prompts that wait become the draft, before it."""
        texts = [queued.text for queued in self.state.queue]
        if texts:
            self.state.queue.clear()
            self._outlets.send(EditQueue("clear"))
            self.draft.set_text("\n".join(texts if self.draft.empty else [*texts, self.draft.text]))
        self._outlets.send(CancelTurn())

    def _take_back(self) -> None:
        """Make the newest waiting prompt the draft."""
        newest = self.state.queue.pop()
        self._outlets.send(EditQueue("remove", newest.prompt_id))
        self.draft.set_text(newest.text)
