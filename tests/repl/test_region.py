"""The live region, composed from a state."""

from __future__ import annotations

import pytest

from grokmini.protocol.events import (
    Notice,
    PermissionAsked,
    RetryScheduled,
    SessionEvent,
    SessionStarted,
    ShellFinished,
    TextDelta,
    ToolCallWriting,
    ToolProgress,
    ToolStarted,
    TurnStarted,
)
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import ToolKind
from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.render.transcript import Shown, Transcript
from grokmini.repl.inline_desk import InlineDesk, Outlets
from grokmini.repl.keys import Text
from grokmini.repl.painter import Size
from grokmini.repl.question import GUARD
from grokmini.repl.region import LiveRegion
from grokmini.repl.session_state import SessionState
from tests.render.events import ended, ready
from tests.repl.draft import Typist
from tests.repl.scripted_session import OPTIONS

ASKED = PermissionAsked("q1", "c1", "Run this?", "rm -rf build", OPTIONS)


class Scene:
    """A region over a desk that sends nothing anywhere."""

    def __init__(self) -> None:
        self.now = 100.0
        outlets = Outlets(*[lambda *_: None for _ in Outlets._fields])
        self.desk = InlineDesk(SessionState(), Typist().input, outlets)
        self.desk.state.apply(
            SessionStarted(
                "0.1.0", "/home/me/shop", "grok-4.5", PermissionMode.ASK, "none", context_window=1000
            ),
            0,
        )
        transcript = Transcript(80, Shown())
        self.region = LiveRegion(Look(), self.desk, transcript, lambda: self.now, home="/home/me")

    def rows(self, columns: int = 80, height: int = 24) -> list[str]:
        return [plain(line) for line in self.region.compose(Size(columns, height)).rows]

    def ask(self) -> None:
        self.desk.state.apply(TurnStarted("p", 0, "x"), self.now)
        self.desk.state.apply(ASKED, self.now)
        self.rows()
        self.now += GUARD


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_idle_it_is_the_prompt_and_what_is_in_force(scene: Scene) -> None:
    assert scene.rows() == ["", "› ", "grok-4.5 · ask · sandbox none · ~0% of 1.0k · ~/shop"]
    assert scene.region.next_change() is None


def test_a_session_of_another_window_is_said_to_be_watched_and_no_key_to_stop_it(scene: Scene) -> None:
    watched = LiveRegion(
        Look(), scene.desk, Transcript(80, Shown()), lambda: scene.now, home="/home/me", watching=True
    )
    scene.desk.state.apply(TurnStarted("p", 0, "x"), scene.now)
    shown = [plain(line) for line in watched.compose(Size(80, 24)).rows]
    assert "grok-4.5 · watching · " in shown[-1]
    assert not any("Ctrl-C stops" in text for text in shown)


@pytest.mark.parametrize("height", [4, 5, 6, 10, 24])
def test_the_row_that_is_typed_in_is_seen_above_its_menu(scene: Scene, height: int) -> None:
    scene.desk.press([Text("/")], scene.now)
    view = scene.region.compose(Size(40, height))
    assert view.cursor is not None and len(view.rows) <= max(3, height - 2)
    assert plain(view.rows[view.cursor.row]) == "› /"
    assert ("/help" in "".join(map(plain, view.rows))) == (height > 4)


def test_a_long_reason_shows_its_end_with_the_cursor_behind_it(scene: Scene) -> None:
    scene.ask()
    scene.desk.press([Text("4")], scene.now)
    scene.desk.press([Text("because " * 20 + "END")], scene.now)
    view = scene.region.compose(Size(40, 24))
    row = next(row for row in map(plain, view.rows) if row.endswith("END"))
    assert row.startswith("…") and len(row) < 40
    assert view.cursor is not None and view.cursor.column == len(row)


def test_a_draft_that_waits_behind_a_question_is_seen(scene: Scene) -> None:
    scene.desk.draft.set_text("typed before")
    scene.ask()
    assert "› typed before" in scene.rows()


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (20, 6), (10, 4), (1, 1)])
def test_it_fits_any_terminal(scene: Scene, size: tuple[int, int]) -> None:
    scene.ask()
    view = scene.region.compose(Size(*size))
    assert all(line.width <= size[0] for line in view.rows)
    assert len(view.rows) <= max(1, size[1] - 2)


@pytest.mark.parametrize(("columns", "end"), [(80, " " * 60 + "12 s"), (40, "  12 s"), (20, "")])
def test_a_running_call_shows_for_how_long_where_there_is_room(scene: Scene, columns: int, end: str) -> None:
    for event in (TurnStarted("p", 0, "x"), ready("1", ToolKind.EXECUTE, command="npm test"), ToolStarted("1")):
        scene.desk.state.apply(event, scene.now)
        scene.region.transcript.apply(event)
    rows = scene.rows(columns)
    assert next(row for row in rows if "npm" in row) == "• Run   npm test"
    scene.now += 12.4
    assert next(row for row in scene.rows(columns) if "npm" in row) == f"• Run   npm test{end}"


def test_the_persons_own_command_is_seen_while_it_runs(scene: Scene) -> None:
    scene.desk.state.shell_sent("make all", scene.now)
    scene.now += 3
    assert scene.rows(50) == ["• Shell make all  3 s", "", "› ", scene.rows(50)[-1]]
    scene.desk.state.apply(ShellFinished("make all", "", 0, 3.0), scene.now)
    assert scene.rows(50)[0] == ""


def test_a_call_is_seen_while_the_model_writes_it(scene: Scene) -> None:
    state = scene.desk.state
    state.apply(TurnStarted("p", 0, "x"), scene.now)
    for lines in (0, 40, 82):
        state.apply(ToolCallWriting("write", "big.txt", lines), scene.now)
        scene.now += 4
    assert scene.rows(70)[0] == "• Call  write big.txt, 82 lines so far".ljust(66) + "12 s"
    assert "waiting" in scene.rows(70)[-1], "it is four seconds since it wrote on"
    state.apply(ToolCallWriting("write", "big.txt", 90), scene.now)
    assert "waiting" not in scene.rows(70)[-1]
    written = ready("1", ToolKind.EDIT, file_path="big.txt")
    state.apply(written, scene.now)
    assert not any("so far" in row for row in scene.rows(70))


@pytest.mark.parametrize("end", [RetryScheduled(2, 5, 1.0, "network", "cut"), TextDelta("no"), ended()])
def test_a_call_that_is_written_no_more_is_shown_no_more(scene: Scene, end: SessionEvent) -> None:
    scene.desk.state.apply(ToolCallWriting("write\n\x1b[2J", "a\x1b]0;b"), scene.now)
    assert "Call" in scene.rows(70)[0] and "\x1b" not in "".join(scene.rows(70))
    scene.desk.state.apply(end, scene.now)
    assert not any("Call" in row for row in scene.rows(70))


def test_a_question_stands_apart_from_what_is_above_it_where_there_is_room(scene: Scene) -> None:
    scene.ask()
    roomy, tight = scene.rows(80, 24), scene.rows(80, 8)
    assert roomy[:2] == ["", "Run this?"]
    assert tight[0] == "Run this?"


def test_while_work_goes_on_it_changes_once_a_second(scene: Scene) -> None:
    scene.desk.state.apply(TurnStarted("p", 0, "x"), scene.now)
    scene.region.work_began = scene.now
    scene.now += 5.25
    assert scene.region.next_change() == pytest.approx(106.0)
    assert "5 s waiting" in scene.rows()[-1] and scene.rows()[-1].endswith("  Ctrl-C stops")


def test_in_little_room_a_notice_that_waits_behind_a_call_leaves_the_rows_to_its_output(scene: Scene) -> None:
    text = "Not enforced by the sandbox here: the number of processes: the kernel sets no limit for root."
    for event in (
        ready("1", ToolKind.EXECUTE, command="make"),
        ToolStarted("1"),
        ToolProgress("1", "begun\nwaits\n"),
    ):
        scene.region.transcript.apply(event)
    scene.region.transcript.apply(Notice("info", text, "sandbox"))
    small = scene.rows(40, 10)
    calls = ["• Run   make", "        begun", "        waits"]
    assert small[:5] == [*calls, "", "= Not enforced by the sandbox here: the…"]
    assert "  no limit for root." in scene.rows(40, 24)
