"""That something still runs is said rarely."""

from __future__ import annotations

from itertools import pairwise

from grokmini.protocol.events import (
    PermissionAsked,
    SessionStarted,
    TextDelta,
    ToolCallReady,
    ToolCallWriting,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import ToolEnvelope, ToolKind, ToolNamespace
from grokmini.repl.progress import Progress
from grokmini.repl.session_state import SessionState
from tests.repl.scripted_session import OPTIONS


def running(command: str = "npm test") -> SessionState:
    """A command runs since second 0."""
    state = SessionState()
    tool = ToolEnvelope(
        "run_terminal_command",
        ToolKind.EXECUTE,
        ToolNamespace.GROK_BUILD,
        "Run",
        False,
        input={"command": command},
    )
    for event in (
        SessionStarted("0.1.0", "/work", "grok-4.5", PermissionMode.ASK, "none"),
        TurnStarted("p", 1, "go"),
        ToolCallReady("c", tool, "{}"),
        ToolStarted("c"),
    ):
        state.apply(event, 0.0)
    return state


def lines_of(state: SessionState, seconds: int) -> list[tuple[float, str]]:
    """Every progress line of so many seconds, and when it came."""
    progress = Progress()
    progress.heard(0.0)
    lines = []
    while (due := progress.due(state)) is not None and due <= seconds:
        lines.append((due, progress.line(state, due)))
    return lines


def test_lines_name_the_command_and_come_further_and_further_apart() -> None:
    lines = lines_of(running(), 200)
    assert lines[:2] == [
        (5.0, "… still running: npm test (5 s)"),
        (15.0, "… still running: npm test (15 s)"),
    ]
    gaps = [after - before for (before, _), (after, _) in pairwise(lines)]
    assert gaps == [10.0, 20.0, 40.0, 60.0, 60.0]
    assert lines[-1][1].endswith("(3 min 15 s)")


def test_a_call_that_is_being_written_is_not_waited_for() -> None:
    state = running()
    state.apply(ToolFinished("c", "ok", "", 1.0), 1.0)
    state.apply(ToolCallWriting("write", "big.txt", 82), 2.0)
    assert lines_of(state, 6)[0] == (5.0, "… a call is being written: write big.txt, 82 lines so far (3 s)")


def test_waiting_for_the_model_is_said_by_its_name() -> None:
    state = running()
    state.apply(ToolFinished("c", "ok", "", 1.0), 1.0)
    assert lines_of(state, 6)[0] == (5.0, "… still waiting for grok-4.5 (4 s)")


def test_a_model_in_the_middle_of_a_long_line_is_not_waited_for() -> None:
    state = running()
    state.apply(ToolFinished("c", "ok", "", 1.0), 1.0)
    state.apply(TextDelta("a long paragraph "), 4.0)
    assert lines_of(state, 6)[0] == (5.0, "… grok-4.5 is still writing; its next line is not complete")


def test_output_starts_the_wait_again() -> None:
    progress = Progress()
    progress.heard(0.0)
    progress.heard(4.0)
    assert progress.due(running()) == 9.0


def test_nothing_is_due_while_a_person_is_asked_or_nothing_runs() -> None:
    state = running()
    state.apply(PermissionAsked("q", "c", "Run?", "x", OPTIONS), 1.0)
    assert lines_of(state, 100) == []
    assert lines_of(SessionState(), 100) == []


def test_a_command_cannot_write_control_characters_into_the_line() -> None:
    _, line = lines_of(running("echo \x1b[2J\nrm"), 5)[0]
    assert line.isprintable()
