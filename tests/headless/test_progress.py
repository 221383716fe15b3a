"""What is said on stderr beside a headless run."""

from __future__ import annotations

import msgspec
import pytest

from grokmini.headless.progress import Progress
from grokmini.protocol.events import (
    ErrorInfo,
    Notice,
    RetryScheduled,
    SessionEvent,
    TextDelta,
    ToolCallReady,
    ToolFinished,
    TurnEnded,
)
from grokmini.protocol.model import Usage
from grokmini.protocol.tools import SummaryDisplay, ToolEnvelope, ToolKind, ToolNamespace
from grokmini.render.linear import LinearView

ENDED = TurnEnded(1, "completed", 0, "done", Usage())
READ = ToolEnvelope(
    "read_file", ToolKind.READ, ToolNamespace.GROK_BUILD, "Read", True, input={"path": "calc.py"}
)
STEP = (
    ToolCallReady("c1", READ, '{"target_file":"calc.py"}'),
    ToolFinished("c1", "ok", "text", 0.1, SummaryDisplay("12 lines")),
)


def told(*events: SessionEvent, watched: bool = False) -> list[str]:
    lines: list[str] = []
    view = LinearView(width=80, unicode=True, show_reasoning=False) if watched else None
    progress = Progress(lines.append, lines.append, view, 0)
    for event in events:
        progress.apply(event)
    return lines


def test_nobody_watching_hears_nothing_of_a_run_that_goes_well() -> None:
    assert told(*STEP, Notice("info", "all is well"), TextDelta("done"), ENDED) == []


def test_someone_watching_sees_the_steps_but_not_the_answer() -> None:
    lines = told(TextDelta("secret answer\n\n"), *STEP, ENDED, watched=True)
    assert any("Read" in line and "calc.py" in line for line in lines)
    assert not any("secret answer" in line for line in lines)


def test_warnings_are_told_whoever_watches() -> None:
    assert told(Notice("warning", "disk full")) == ["! disk full"]


@pytest.mark.parametrize("watched", [False, True])
def test_what_is_waited_for_is_told_once_whoever_watches(watched: bool) -> None:
    waiting = RetryScheduled(2, 5, 20.0, "rate_limit", "api.x.ai says slow down")
    assert told(waiting, watched=watched) == ["! api.x.ai says slow down: asking again in 20 s (2 of 5)"]


def test_an_error_is_told_with_what_to_do() -> None:
    ended = msgspec.structs.replace(
        ENDED, outcome="error", exit_code=5, error=ErrorInfo("auth", "no key", "Set K.")
    )
    assert told(ended) == ["grokmini: no key\n  Set K."]


def test_what_was_denied_is_told_with_the_rule_that_allows_it_ready_to_paste() -> None:
    ended = msgspec.structs.replace(ENDED, exit_code=4, denied=("Bash(echo 'x')",))
    (line,) = told(ended)
    assert (
        line.splitlines()[1]
        == "  allow it with --allow 'Bash(echo '\"'\"'x'\"'\"')' or another --permission-mode"
    )


@pytest.mark.parametrize("rule", ["Bash(mkdir x\nimport os)", "Bash(mkdir x\u240aimport os)"])
def test_of_a_command_of_several_lines_no_rule_is_offered_that_cannot_name_it(rule: str) -> None:
    (line,) = told(msgspec.structs.replace(ENDED, exit_code=4, denied=(rule,)))
    assert "--allow '" not in line
    assert "--permission-mode always-approve (no --allow rule can name a command of several lines)" in line


def test_the_limit_on_rounds_is_told() -> None:
    ended = msgspec.structs.replace(ENDED, outcome="max_turns_reached", exit_code=3, rounds=2)
    assert "after 2 model rounds" in told(ended)[0]


def test_the_name_of_the_program_is_said_once() -> None:
    fault = msgspec.structs.replace(
        ENDED, outcome="error", exit_code=1, error=ErrorInfo("internal", "grokmini failed inside", "again")
    )
    assert told(fault) == ["grokmini failed inside\n  again"]
    other = msgspec.structs.replace(fault, error=ErrorInfo("server", "the server is gone", ""))
    assert told(other) == ["grokmini: the server is gone"]
