"""Where presses go in linear mode: the question, the search or the draft, whichever is open on top.

Decides and writes to the screen; sends commands; knows no terminal, no loop and no clock (times come in).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from grokmini.protocol.commands import CancelTurn, EditQueue, Interject, SessionCommand, SetMode
from grokmini.protocol.permission import PermissionMode
from grokmini.render.look import Look
from grokmini.repl.commands.table import names
from grokmini.repl.completion import complete
from grokmini.repl.history import History
from grokmini.repl.keys import Burst, Chord, Key, Press
from grokmini.repl.linear_editor import LinearEditor
from grokmini.repl.linear_questions import LinearQuestions
from grokmini.repl.linear_screen import LinearScreen
from grokmini.repl.session_state import SessionState

LEAVE_AGAIN = 2.0
"""Seconds within which a second Ctrl-D leaves although a turn runs."""
MODE_CYCLE = (PermissionMode.ASK, PermissionMode.ACCEPT_EDITS, PermissionMode.PLAN, PermissionMode.AUTO)
"""What Shift-Tab goes through: never to always-approve."""
HOW_TO_LEAVE = "Ctrl-D or /quit leaves"
LEAVE_HINT = "a turn runs: Ctrl-D again leaves and stops it, Ctrl-C stops it only"
SENT_NOW = "sent now: it reaches the model at the next gap"
SEARCH_PROMPT = "search: "

_NEVER = float("-inf")
_NO_EDITING = (Key.TAB, Key.SHIFT_TAB, Key.SEARCH)
_NOT_FOR_DRAFT = (*_NO_EDITING, Key.UP, Key.DOWN, Key.ESCAPE, Key.REDRAW)


class Outlets(NamedTuple):
    """What the desk asks of others: send a command, handle a submitted text, leave, suspend the program."""

    send: Callable[[SessionCommand], None]
    submit: Callable[[str], None]
    leave: Callable[[], None]
    suspend: Callable[[], None]


class LinearDesk:
    """One person's keyboard. `now` values are seconds of one monotonic clock."""

    def __init__(
        self,
        screen: LinearScreen,
        state: SessionState,
        history: History,
        outlets: Outlets,
        *,
        look: Look,
        width: int,
        arguments: Callable[[str], Sequence[str]] = lambda command: (),
    ) -> None:
        self.state = state
        self._arguments = arguments
        self.draft = LinearEditor(look.glyphs.prompt + " ", width=width, older=history)
        self.questions = LinearQuestions(screen, outlets.send, width=width, look=look)
        self._screen = screen
        self._history = history
        self._outlets = outlets
        self._search: LinearEditor | None = None
        self._query = ""
        self._last_press = self._last_typed = _NEVER
        self._leave_until = _NEVER

    @property
    def line(self) -> LinearEditor:
        """What is being edited: the draft, or the answer or search that lies over it."""
        return self.questions.line or self._search or self.draft

    def typing_until(self, pause: float) -> float:
        """When the person counts as no longer typing on the open line."""
        typing = self._screen.line_open and not self.line.empty
        return self._last_typed + pause if typing else _NEVER

    def resize(self, width: int) -> None:
        """The terminal has another width from now on."""
        self.questions.width = width
        for editor in (self.draft, self.line):
            editor.width = width

    def follow(self, now: float) -> None:
        """Open or close a question as the session says."""
        if self.state.questions:
            self._search = None
        self.questions.follow(self.state, now, self._last_press)

    def show_line(self) -> None:
        """Show prompt and draft when the person is to type: a question is open or nothing runs."""
        guarded = self.questions.guard_until is not None
        waits = not self.state.busy and not self.state.queue
        if (waits or self.line is not self.draft) and not guarded and not self._screen.line_open:
            self._screen.show(self.line.shown())

    def press(self, press: Press, now: float) -> None:
        """Act on a press; keys of the full editor do nothing."""
        if isinstance(press, Chord | Burst):
            return
        self._last_press = now
        if press is Key.INTERRUPT:
            self._interrupt()
        elif press is Key.END_OF_FILE:
            self._end_of_file(now)
        elif press is Key.SUSPEND:
            self._outlets.suspend()
        elif self.questions.guard_until is not None:
            self._behind_guard(press, now)
        elif press is Key.ESCAPE:
            self._escape()
        elif press is Key.REDRAW:
            self._screen.show(self.line.shown())
        else:
            self._last_typed = now
            self._press_line(press)
        self.follow(now)

    def _press_line(self, press: Press) -> None:
        if self.line is not self.draft:
            if press not in _NO_EDITING:
                self._edit(self.line, press)
        elif press is Key.SHIFT_TAB:
            self._next_mode()
        elif press is Key.SEARCH:
            self._start_search()
        elif press is Key.TAB:
            self._complete()
        elif press is Key.UP and self.draft.empty and self.state.queue:
            self._take_back()
        else:
            self._edit(self.draft, press)

    def _edit(self, editor: LinearEditor, press: Press) -> None:
        if not self._screen.line_open:
            if press is Key.ENTER and editor.empty:
                self._submitted(editor, "")
                return
            self._screen.show(editor.shown())
        edit = editor.press(press)
        self._screen.echo(edit.echo)
        if edit.hint:
            self._screen.say(edit.hint)
            self._screen.show(editor.shown())
        if edit.submitted is not None:
            self._screen.line_open = False
            self._submitted(editor, edit.submitted)

    def _submitted(self, editor: LinearEditor, text: str) -> None:
        if editor is self._search:
            self._found(text)
        elif editor is not self.draft:
            self.questions.submitted(text, self.state)
        elif text:
            self._outlets.submit(text)
        elif self.state.busy and self.state.queue:
            self._outlets.send(Interject(self.state.queue[0].prompt_id))
            self._screen.say(SENT_NOW)

    def _behind_guard(self, press: Press, now: float) -> None:
        """A key that came too soon for the question belongs to the draft; it is not echoed."""
        to_draft = press not in _NOT_FOR_DRAFT and not (press is Key.ENTER and self.draft.empty)
        self.questions.key_went_by(now, to_draft=to_draft)
        if to_draft:
            edit = self.draft.press(press)
            if edit.submitted:
                self._outlets.submit(edit.submitted)

    def _interrupt(self) -> None:
        self._last_typed = _NEVER
        if self.state.busy or self.questions.open:
            self._stop_turn()
        elif self._search:
            self._escape()
        elif self.draft.empty:
            self._screen.say(HOW_TO_LEAVE)
        else:
            self._history.remember(self.draft.text)
            self.draft.set("")
            self._screen.end_line()

    def _escape(self) -> None:
        self._last_typed = _NEVER
        if self._search:
            self._search = None
            self._screen.end_line()
        elif self.state.busy and not self.questions.open:
            self._stop_turn()

    def _stop_turn(self) -> None:
        """Stop it; the draft is kept, and shown again when the turn has ended."""
        self._screen.end_line()
        self._outlets.send(CancelTurn())

    def _end_of_file(self, now: float) -> None:
        if not self.line.empty:
            return
        if not self.state.busy or now < self._leave_until:
            self._outlets.leave()
            return
        self._leave_until = now + LEAVE_AGAIN
        self._screen.say(LEAVE_HINT)

    def _next_mode(self) -> None:
        mode = self.state.mode
        place = MODE_CYCLE.index(mode) + 1 if mode in MODE_CYCLE else 0
        self._outlets.send(SetMode(MODE_CYCLE[place % len(MODE_CYCLE)]))

    def _take_back(self) -> None:
        """Make the newest waiting prompt the draft."""
        newest = self.state.queue.pop()
        self._outlets.send(EditQueue("remove", newest.prompt_id))
        self.draft.set(newest.text)
        self._screen.show(self.draft.shown())

    def _complete(self) -> None:
        completion = complete(self.draft.text, names(), self.state.cwd, self._arguments)
        if completion.candidates:
            self._screen.say("  ".join(completion.candidates))
        if not self._screen.line_open:
            self._screen.show(self.draft.shown())
        self._screen.echo(self.draft.insert(completion.addition))

    def _start_search(self) -> None:
        """Ask for words to look for; on what was found before, look for something older."""
        if self.draft.recalled is not None and self._query:
            self._found(self._query, self.draft.recalled + 1)
            return
        self._search = LinearEditor(SEARCH_PROMPT, width=self.draft.width)
        self._screen.show(self._search.shown())

    def _found(self, words: str, start: int = 0) -> None:
        self._search, self._query = None, words
        place = self._history.search(words, start) if words else None
        if place is not None:
            self.draft.recall(place)
        elif words:
            self._screen.say(f"nothing {'older ' if start else ''}that was sent has: {words}")
        self._screen.show(self.draft.shown())
