"""Where presses go, with the time said by the test."""

from __future__ import annotations

import pytest

from grokmini.protocol import commands
from grokmini.protocol.events import (
    ModeChanged,
    PermissionAnswered,
    PermissionAsked,
    PromptQueued,
    SessionEvent,
    TurnEnded,
    TurnStarted,
)
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionAnswer, PermissionMode
from grokmini.render.look import Look
from grokmini.repl.history import History
from grokmini.repl.keys import Burst, Chord, Key, Press, Text
from grokmini.repl.linear_desk import HOW_TO_LEAVE, LEAVE_AGAIN, LEAVE_HINT, LinearDesk, Outlets
from grokmini.repl.linear_questions import KEPT
from grokmini.repl.linear_screen import LinearScreen
from grokmini.repl.question import GUARD
from grokmini.repl.session_state import SessionState
from tests.repl.scripted_session import OPTIONS

ASKED = PermissionAsked("q1", "c1", "Run this?", "rm -rf build", OPTIONS)


class Scene:
    """A desk, what it wrote and what it asked of others."""

    def __init__(self) -> None:
        self.now = 100.0
        self.written = ""
        self.sent: list[commands.SessionCommand] = []
        self.submitted: list[str] = []
        self.left = self.suspended = 0
        self.state = SessionState()
        self.history = History(None, lambda: 0.0)
        screen = LinearScreen(self._write, output=1, prompt=1, colour_level=0, look=Look())
        outlets = Outlets(self.sent.append, self.submitted.append, self._leave, self._suspend)
        self.desk = LinearDesk(screen, self.state, self.history, outlets, look=Look(), width=80)

    def press(self, *presses: Press, after: float = 0.0) -> None:
        """Press keys, each so long after the one before."""
        for press in presses:
            self.now += after
            self.desk.press(press, self.now)

    def happen(self, *events: SessionEvent) -> None:
        """The session tells something."""
        for event in events:
            self.state.apply(event, self.now)
        self.desk.follow(self.now)

    def wait(self, seconds: float) -> None:
        """Time passes."""
        self.now += seconds
        self.desk.follow(self.now)
        self.desk.show_line()

    def start_turn(self) -> None:
        """A turn runs."""
        self.happen(TurnStarted("p1", 1, "work"))

    def end_turn(self) -> None:
        """It has ended."""
        self.happen(TurnEnded(1, "completed", 0, "", Usage()))

    def _write(self, descriptor: int, text: str) -> None:
        self.written += text

    def _leave(self) -> None:
        self.left += 1

    def _suspend(self) -> None:
        self.suspended += 1


@pytest.fixture
def scene() -> Scene:
    return Scene()


def asking(scene: Scene) -> Scene:
    """A question is open and takes keys."""
    scene.start_turn()
    scene.happen(ASKED)
    scene.wait(GUARD)
    assert scene.written.endswith("answer: ")
    return scene


def test_the_guard_lasts_until_no_key_came_for_its_whole_time(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(ASKED)
    for _ in range(5):
        scene.press(Text("1"), after=GUARD - 0.01)
        assert "answer: " not in scene.written
    scene.wait(GUARD - 0.01)
    assert "answer: " not in scene.written
    scene.wait(0.01)
    assert scene.written.endswith(f"{KEPT}\nanswer: ")
    assert scene.desk.draft.text == "11111"
    assert scene.sent == []


def test_a_key_just_before_the_question_holds_its_guard_up_too(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Text("x"))
    scene.now += 0.1
    scene.happen(ASKED)
    assert scene.desk.questions.guard_until == pytest.approx(100.1 + GUARD)


def test_enter_behind_the_guard_queues_what_was_being_typed(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Text("then the docs"))
    scene.happen(ASKED)
    scene.press(Key.ENTER, after=0.1)
    assert scene.submitted == ["then the docs"]


def test_enter_behind_the_guard_on_an_empty_draft_does_nothing(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(PromptQueued("p2", "waits"), ASKED)
    scene.press(Key.ENTER, after=0.1)
    assert scene.submitted == [] and scene.sent == []


def test_ctrl_c_is_never_held_back_by_the_guard(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(ASKED)
    scene.press(Key.INTERRUPT)
    assert scene.sent == [commands.CancelTurn()]


def test_escape_does_nothing_while_a_question_is_open(scene: Scene) -> None:
    asking(scene).press(Key.ESCAPE, after=1)
    assert scene.sent == []
    assert scene.desk.questions.open


def test_a_typed_answer_can_be_corrected_before_enter(scene: Scene) -> None:
    asking(scene).press(Text("1"), Key.BACKSPACE, Text("3"), Key.ENTER)
    assert scene.sent == [commands.AnswerPermission("q1", PermissionAnswer("deny"))]


def test_enter_alone_answers_nothing(scene: Scene) -> None:
    asking(scene).press(Key.ENTER)
    scene.wait(0.1)
    assert scene.sent == [] and scene.written.endswith("answer: ")


def test_a_question_answered_elsewhere_is_closed(scene: Scene) -> None:
    asking(scene).happen(PermissionAnswered("q1", "c1", PermissionAnswer("deny"), "cancel"))
    scene.end_turn()
    scene.wait(0.1)
    assert scene.written.endswith("answer: \n› ")


def test_a_draft_under_a_question_comes_back_behind_it(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Text("draft"))
    scene.happen(ASKED)
    scene.wait(GUARD)
    scene.press(Text("1"), Key.ENTER)
    scene.end_turn()
    scene.wait(0.1)
    assert scene.written.endswith("\n› draft")


def test_a_second_ctrl_d_leaves_only_soon_after_the_first(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Key.END_OF_FILE)
    assert LEAVE_HINT in scene.written
    scene.press(Key.END_OF_FILE, after=LEAVE_AGAIN + 0.1)
    assert scene.left == 0
    scene.press(Key.END_OF_FILE, after=LEAVE_AGAIN - 0.1)
    assert scene.left == 1


def test_shift_tab_goes_through_the_modes_and_never_to_always_approve(scene: Scene) -> None:
    modes = []
    for _ in range(4):
        scene.press(Key.SHIFT_TAB)
        command = scene.sent.pop()
        assert isinstance(command, commands.SetMode)
        scene.happen(ModeChanged(command.mode))
        modes.append(command.mode.value)
    assert modes == ["accept-edits", "plan", "auto", "ask"]
    scene.happen(ModeChanged(PermissionMode.ALWAYS_APPROVE))
    scene.press(Key.SHIFT_TAB)
    assert scene.sent == [commands.SetMode(PermissionMode.ASK)]


def test_ctrl_c_closes_the_search_and_keeps_the_draft(scene: Scene) -> None:
    scene.press(Text("mine"), Key.SEARCH, Text("x"), Key.INTERRUPT)
    scene.wait(0.1)
    assert scene.written.endswith("search: x\n› mine")


def test_the_search_finds_older_texts_when_asked_again(scene: Scene) -> None:
    for text in ("fix one", "docs", "fix two"):
        scene.history.add(text, "s")
    scene.press(Key.SEARCH, Text("FIX"), Key.ENTER)
    assert scene.desk.draft.text == "fix two"
    scene.press(Key.SEARCH)
    assert scene.desk.draft.text == "fix one"
    scene.press(Key.SEARCH)
    assert scene.desk.draft.text == "fix one" and "nothing older" in scene.written


def test_ctrl_z_suspends_also_while_a_question_is_open(scene: Scene) -> None:
    asking(scene).press(Key.SUSPEND)
    assert scene.suspended == 1


def test_while_a_turn_runs_no_prompt_is_shown_until_a_key_comes(scene: Scene) -> None:
    scene.start_turn()
    scene.wait(1)
    assert scene.written == ""
    scene.press(Text("a"))
    assert scene.written == "› a"


def test_ctrl_c_on_nothing_says_how_to_leave(scene: Scene) -> None:
    scene.press(Key.INTERRUPT)
    assert scene.written == HOW_TO_LEAVE + "\n"
    assert scene.left == 0


def test_keys_of_the_full_editor_do_nothing_here() -> None:
    scene = Scene()
    scene.press(Text("draft"))
    written = scene.written
    scene.press(Chord("\x1b[D"), Burst("draft"))
    assert (scene.written, scene.desk.draft.text) == (written, "draft")
