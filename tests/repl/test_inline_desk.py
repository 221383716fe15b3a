"""Where presses go in the inline REPL, with the time said by the test."""

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
from grokmini.repl.inline_desk import HINT_SECONDS, SENT_NOW, InlineDesk, Outlets
from grokmini.repl.keys import Chord, Key, Paste, Press, Text
from grokmini.repl.linear_desk import HOW_TO_LEAVE, LEAVE_AGAIN, LEAVE_HINT
from grokmini.repl.linear_questions import KEPT
from grokmini.repl.question import GUARD
from grokmini.repl.session_state import SessionState
from tests.repl.draft import Typist
from tests.repl.scripted_session import OPTIONS

ASKED = PermissionAsked("q1", "c1", "Run this?", "rm -rf build", OPTIONS)
ASKED_AGAIN = PermissionAsked("q2", "c2", "Edit a.py?", "a.py", OPTIONS, diff="--- a/a.py\n+++ b/a.py\n")


class Scene:
    """A desk and what it asked of others."""

    def __init__(self) -> None:
        self.now = 100.0
        self.sent: list[commands.SessionCommand] = []
        self.asked: list[tuple[str, str]] = []
        self.state = SessionState()
        self.draft = Typist().input
        outlets = Outlets(
            send=self.sent.append,
            submit=lambda text: self.asked.append(("submit", text)),
            leave=lambda: self.asked.append(("leave", "")),
            suspend=lambda: self.asked.append(("suspend", "")),
            redraw=lambda: self.asked.append(("redraw", "")),
            edit=lambda text: self.asked.append(("edit", text)),
            page=lambda text: self.asked.append(("page", text)),
            command=lambda name: self.asked.append(("command", name)),
            paste=lambda: self.asked.append(("paste", "")),
            picked=lambda asked: self.asked.append(("picked", str(asked))),
        )
        self.desk = InlineDesk(self.state, self.draft, outlets)

    def press(self, *presses: Press, after: float = 0.0) -> None:
        """Press keys, each so long after the one before."""
        for press in presses:
            self.now += after
            self.desk.press([press], self.now)

    def happen(self, *events: SessionEvent) -> None:
        """The session tells something."""
        for event in events:
            self.state.apply(event, self.now)
        self.desk.follow(self.now)

    def start_turn(self) -> None:
        """A turn runs."""
        self.happen(TurnStarted("p1", 1, "work"))

    def end_turn(self) -> None:
        """It has ended."""
        self.happen(TurnEnded(1, "completed", 0, "", Usage()))

    def ask(self, *asked: PermissionAsked) -> None:
        """A turn runs and asks, and the guard is over."""
        self.start_turn()
        self.happen(*asked)
        self.now += GUARD

    @property
    def hint(self) -> str:
        """What is shown for a moment."""
        return self.desk.hint if self.now < self.desk.hint_until else ""


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_typed_text_is_submitted_by_enter(scene: Scene) -> None:
    scene.press(Text("fix it"), Key.ENTER)
    assert scene.asked == [("submit", "fix it")]
    assert scene.draft.empty


def test_enter_on_nothing_does_nothing_while_nothing_waits(scene: Scene) -> None:
    scene.press(Key.ENTER)
    scene.start_turn()
    scene.press(Key.ENTER)
    assert scene.sent == [] and scene.asked == []


def test_enter_on_nothing_sends_the_first_queued_prompt_now(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(PromptQueued("p2", "second"), PromptQueued("p3", "third"))
    scene.press(Key.ENTER)
    assert scene.sent == [commands.Interject("p2")]
    assert scene.hint == SENT_NOW


def test_up_on_nothing_takes_the_newest_queued_prompt_back(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(PromptQueued("p2", "second"), PromptQueued("p3", "third"))
    scene.press(Key.UP)
    assert scene.sent == [commands.EditQueue("remove", "p3")]
    assert scene.draft.text == "third"
    assert [queued.text for queued in scene.state.queue] == ["second"]


def test_up_in_a_draft_leaves_the_queue_alone(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(PromptQueued("p2", "second"))
    scene.press(Text("draft"), Key.UP)
    assert scene.sent == []


@pytest.mark.parametrize("key", [Key.ESCAPE, Key.INTERRUPT])
def test_esc_and_ctrl_c_stop_the_turn_and_keep_the_draft(scene: Scene, key: Key) -> None:
    scene.start_turn()
    scene.press(Text("draft"), key)
    assert scene.sent == [commands.CancelTurn()]
    assert scene.draft.text == "draft"


def test_esc_closes_an_open_menu_first(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Text("/"), Key.ESCAPE)
    assert scene.sent == []
    scene.press(Key.ESCAPE)
    assert scene.sent == [commands.CancelTurn()]


def test_ctrl_c_goes_past_an_open_menu(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Text("/"), Key.INTERRUPT)
    assert scene.sent == [commands.CancelTurn()]


def test_idle_ctrl_c_drops_the_draft_and_then_says_how_to_leave(scene: Scene) -> None:
    scene.press(Text("draft"), Key.INTERRUPT)
    assert scene.draft.empty and scene.hint == ""
    scene.press(Key.INTERRUPT)
    assert scene.hint == HOW_TO_LEAVE
    assert scene.sent == [] and scene.asked == []


def test_a_hint_is_shown_for_a_moment_only(scene: Scene) -> None:
    scene.press(Key.INTERRUPT)
    scene.now += HINT_SECONDS
    assert scene.hint == ""


def test_idle_ctrl_d_leaves_but_not_from_a_draft(scene: Scene) -> None:
    scene.press(Text("x"), Key.END_OF_FILE)
    assert scene.asked == []
    scene.press(Key.BACKSPACE, Key.END_OF_FILE)
    assert scene.asked == [("leave", "")]


def test_while_a_turn_runs_only_a_second_ctrl_d_soon_after_leaves(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Key.END_OF_FILE)
    assert scene.hint == LEAVE_HINT
    scene.press(Key.END_OF_FILE, after=LEAVE_AGAIN + 0.1)
    assert scene.asked == []
    scene.press(Key.END_OF_FILE, after=LEAVE_AGAIN - 0.1)
    assert scene.asked == [("leave", "")]


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


def test_editor_clipboard_screen_and_suspending_are_asked_of_others(scene: Scene) -> None:
    scene.press(Text("draft"), Chord("\x07"), Chord("\x16"), Key.REDRAW, Key.SUSPEND)
    assert scene.asked == [("edit", "draft"), ("paste", ""), ("redraw", ""), ("suspend", "")]


@pytest.mark.parametrize("key", [Key.INTERRUPT, Key.ESCAPE])
def test_what_was_queued_is_in_the_draft_after_a_stop_and_nothing_starts(scene: Scene, key: Key) -> None:
    scene.start_turn()
    scene.happen(PromptQueued("p2", "second"), PromptQueued("p3", "third"))
    scene.press(Text("draft"), key)
    assert scene.sent == [commands.EditQueue("clear"), commands.CancelTurn()]
    assert scene.draft.text == "second\nthird\ndraft"
    assert scene.state.queue == []


def test_mode_keys_that_follow_each_other_fast_go_on_from_one_to_the_next(scene: Scene) -> None:
    scene.press(Key.SHIFT_TAB, Key.SHIFT_TAB, Key.SHIFT_TAB)
    assert [sent.mode for sent in scene.sent if isinstance(sent, commands.SetMode)] == [
        PermissionMode.ACCEPT_EDITS,
        PermissionMode.PLAN,
        PermissionMode.AUTO,
    ]


def test_the_hint_how_to_leave_goes_when_the_turn_has_ended(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Key.END_OF_FILE)
    assert scene.hint == LEAVE_HINT and scene.desk.hint_until > scene.now
    scene.end_turn()
    assert scene.desk.hint_until < scene.now


@pytest.mark.parametrize(
    ("key", "answer"),
    [
        ("1", PermissionAnswer("allow")),
        ("2", PermissionAnswer("allow", "repository", "Bash(rm -rf build)")),
        ("3", PermissionAnswer("deny")),
        ("y", PermissionAnswer("allow")),
        ("n", PermissionAnswer("deny")),
    ],
)
def test_one_key_answers_a_question(scene: Scene, key: str, answer: PermissionAnswer) -> None:
    scene.ask(ASKED)
    scene.press(Text(key))
    assert scene.sent == [commands.AnswerPermission("q1", answer)]
    assert scene.desk.overlay is None


def test_a_no_with_a_reason_asks_for_it_and_esc_goes_back(scene: Scene) -> None:
    scene.ask(ASKED)
    scene.press(Text("4"), Text("use make"), Key.ESCAPE)
    assert scene.sent == [] and scene.desk.reason is None
    scene.press(Text("4"), Text("use make clean"), Key.ENTER)
    assert scene.sent == [commands.AnswerPermission("q1", PermissionAnswer("deny", text="use make clean"))]
    assert scene.draft.empty


def test_another_key_answers_nothing_and_says_which_do(scene: Scene) -> None:
    scene.ask(ASKED)
    for press in (Text("9"), Key.ENTER, Key.TAB, Key.ESCAPE):
        scene.press(press, after=HINT_SECONDS)
        assert scene.sent == []
        assert scene.hint == "1, 2, 3 or 4 answers, Ctrl-C denies and stops"
    scene.press(Text("1"))
    assert scene.hint == "", "it is gone with the question"


@pytest.mark.parametrize("words", ["why?", "my b", "okay", "use 2 sp", "dry run", "xy", "wn"])
@pytest.mark.parametrize("pause", [0.15, 0.3])
def test_words_typed_at_a_question_become_the_draft_and_answer_nothing(
    scene: Scene, words: str, pause: float
) -> None:
    scene.ask(ASKED_AGAIN)
    if words.startswith("d"):
        scene.press(Text("x"))  # d alone shows the diff
    for letter in words:
        scene.press(Text(letter), after=pause)
    assert scene.sent == [] and scene.asked == []
    assert scene.draft.text.endswith(words) and scene.hint == KEPT
    scene.press(Text("3"), after=GUARD)
    assert scene.sent == [commands.AnswerPermission("q2", PermissionAnswer("deny"))]
    assert scene.draft.text.endswith(words)


def test_words_typed_at_a_question_can_be_taken_back_and_then_a_letter_answers_again(scene: Scene) -> None:
    scene.ask(ASKED)
    scene.press(Text("w"), Text("h"), after=0.1)
    scene.press(Key.BACKSPACE, after=GUARD)
    assert scene.draft.text == "w"
    scene.press(Key.ENTER, Key.ESCAPE, after=GUARD)
    assert (scene.draft.text, scene.sent, scene.asked) == ("w", [], []), "neither sends it, nor answers"
    scene.press(Key.BACKSPACE, after=GUARD)
    scene.press(Text("y"), after=GUARD)
    assert scene.draft.empty
    assert scene.sent == [commands.AnswerPermission("q1", PermissionAnswer("allow"))]


@pytest.mark.parametrize("letter", ["y", "n", "d"])
def test_who_types_slowly_into_the_draft_answers_with_no_letter(scene: Scene, letter: str) -> None:
    scene.ask(ASKED_AGAIN)
    scene.press(Text("m"), Text(letter), after=GUARD * 2)
    assert scene.sent == [] and scene.asked == []
    assert scene.draft.text == f"m{letter}"


def test_keys_behind_the_guard_go_to_the_draft_and_hold_it_up(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(ASKED)
    for _ in range(5):
        scene.press(Text("1"), after=GUARD - 0.01)
    assert scene.sent == [] and scene.draft.text == "11111"
    scene.press(Text("1"), after=GUARD)
    assert scene.sent == [commands.AnswerPermission("q1", PermissionAnswer("allow"))]


@pytest.mark.parametrize(
    ("draft", "early", "left"),
    [("", "1", ""), ("", "11", ""), ("", "12", "12"), ("", "3", "3"), ("step ", "1", "step 1")],
)
def test_a_key_that_came_too_early_and_again_does_not_stay_in_the_draft(
    scene: Scene, draft: str, early: str, left: str
) -> None:
    scene.start_turn()
    if draft:
        scene.press(Text(draft))
    scene.happen(ASKED)
    for key in early:
        scene.press(Text(key), after=0.1)
    scene.press(Text("1"), after=GUARD)
    assert scene.sent == [commands.AnswerPermission("q1", PermissionAnswer("allow"))]
    assert scene.draft.text == left


def test_a_key_just_before_the_question_holds_its_guard_up_too(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Text("x"))
    scene.now += 0.1
    scene.happen(ASKED)
    assert scene.desk.overlay and scene.desk.overlay.guard_until == pytest.approx(100.1 + GUARD)


def test_after_an_answer_the_next_question_has_a_guard_of_its_own(scene: Scene) -> None:
    scene.ask(ASKED, ASKED_AGAIN)
    scene.press(Text("1"))
    scene.press(Text("1"), after=0.1)
    assert scene.sent == [commands.AnswerPermission("q1", PermissionAnswer("allow"))]
    scene.press(Text("3"), after=GUARD)
    assert scene.sent[1:] == [commands.AnswerPermission("q2", PermissionAnswer("deny"))]


def test_esc_does_nothing_in_a_question_and_ctrl_c_denies_and_stops(scene: Scene) -> None:
    scene.ask(ASKED)
    scene.press(Key.ESCAPE)
    assert scene.sent == [] and scene.desk.overlay
    scene.press(Key.INTERRUPT)
    assert scene.sent == [commands.CancelTurn()]


def test_ctrl_c_is_never_held_back_by_the_guard(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(ASKED)
    scene.press(Key.INTERRUPT)
    assert scene.sent == [commands.CancelTurn()]


def test_esc_behind_the_guard_does_not_stop_the_turn(scene: Scene) -> None:
    scene.start_turn()
    scene.happen(ASKED)
    scene.press(Key.ESCAPE)
    assert scene.sent == []


def test_d_shows_the_whole_diff_where_there_is_one(scene: Scene) -> None:
    scene.ask(ASKED_AGAIN)
    scene.press(Text("d"))
    assert scene.asked == [("page", ASKED_AGAIN.diff)]
    assert scene.desk.overlay


def test_a_question_answered_elsewhere_is_closed(scene: Scene) -> None:
    scene.ask(ASKED)
    scene.press(Text("4"), Text("half a reason"))
    scene.happen(PermissionAnswered("q1", "c1", PermissionAnswer("deny"), "cancel"))
    assert scene.desk.overlay is None and scene.desk.reason is None
    scene.press(Text("draft"))
    assert scene.draft.text == "draft"


def test_ctrl_d_in_a_question_tells_how_to_leave_and_then_leaves(scene: Scene) -> None:
    """The way out works from everywhere."""
    scene.ask(ASKED)
    scene.press(Key.END_OF_FILE)
    assert scene.hint == LEAVE_HINT
    scene.press(Key.END_OF_FILE, after=0.1)
    assert scene.asked == [("leave", "")]


def test_a_draft_is_kept_while_a_question_is_open(scene: Scene) -> None:
    scene.start_turn()
    scene.press(Text("draft"))
    scene.happen(ASKED)
    scene.now += GUARD
    scene.press(Text("1"))
    scene.end_turn()
    assert scene.draft.text == "draft"


@pytest.mark.parametrize("press", [Text("1 is what I meant to type"), Paste("1\n2"), Paste("1")])
def test_several_characters_at_once_answer_nothing_and_are_kept_in_the_draft(
    scene: Scene, press: Press
) -> None:
    scene.ask(ASKED)
    scene.press(press)
    assert scene.sent == []
    assert scene.draft.text == press.text  # type: ignore[union-attr]
    assert scene.hint == KEPT
    scene.press(Text("1"), after=GUARD / 2)
    assert scene.sent == [], "the guard is up again"


def test_what_was_typed_in_other_hands_answers_no_question(scene: Scene) -> None:
    scene.ask(ASKED)
    scene.desk.returned(scene.now)
    scene.press(Text("1"))
    assert scene.sent == [] and scene.draft.text == "1"
    scene.press(Text("1"), after=GUARD)
    assert isinstance(scene.sent[0], commands.AnswerPermission)
