"""Whole turns through the linear view: what a person reads."""

from __future__ import annotations

import pytest

from grokmini.protocol import events as ev
from grokmini.protocol.errors import ToolErrorKind
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import CommandDisplay, DiffDisplay, SummaryDisplay, TodoEntry, ToolKind
from grokmini.render.linear import LinearView
from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.render.toolview import Preview
from grokmini.render.transcript import Shown, Transcript
from grokmini.text.diff import unified_diff
from tests.cost import LINEAR, growth
from tests.render.documents import WHOLE
from tests.render.events import ended, finished, ready, run

BEFORE = "import x\n\ndef add(a, b):\n    return a - b\n"
DIFF = unified_diff(BEFORE, BEFORE.replace("a - b", "a + b"), "calc.py")

TURN: list[ev.SessionEvent] = [
    ev.SessionStarted("0.1.0", "/home/u/src/shop", "grok-4.5", PermissionMode.ASK, "none", branch="main"),
    ev.TurnStarted("p", 0, "fix the failing test in calc"),
    ev.TextDelta("Running the test"),
    ev.TextDelta(" first."),
    *run(
        "1",
        "python -m pytest -q tests/test_calc.py",
        "\x1b[31mE   assert -1 == 5\x1b[0m\n1 failed in 0.02s\n",
        1,
    ),
    ready("2", ToolKind.READ, path="/home/u/src/shop/calc.py"),
    ready("3", ToolKind.EDIT, path="calc.py"),
    finished("3", "edited", DiffDisplay("calc.py", DIFF, 1, 1)),
    finished("2", "…", SummaryDisplay("12 lines")),
    *run("4", "python -m pytest -q tests/test_calc.py", "1 passed in 0.01s\n", 0, 0.71),
    ev.TextDelta("`add` subtracted. Fixed in calc.py:4; the test is green.\n"),
    ended(usage=Usage(1, 3000, 0, 0, 100), rounds=5, seconds=14.2, files_changed=1),
]

SCREEN = """\
grokmini 0.1.0 · grok-4.5 · ~/src/shop on main · sandbox none

› fix the failing test in calc

Running the test first.

• Run   python -m pytest -q tests/test_calc.py                        0.8 s  x 1
        E   assert -1 == 5
        1 failed in 0.02s
• Read  calc.py  12 lines
• Edit  calc.py  +1 -1
        1   import x
        2
        3   def add(a, b):
        4 -     return a - b
        4 +     return a + b
• Run   python -m pytest -q tests/test_calc.py                         0.7 s  ok
        1 passed in 0.01s

`add` subtracted. Fixed in calc.py:4; the test is green.

14 s · 5 steps · 3.1k tokens · 1 file changed
"""


def view(width: int = 80, *, unicode: bool = True, reasoning: bool = True, prompts: bool = True) -> LinearView:
    return LinearView(width=width, unicode=unicode, show_reasoning=reasoning, prompts=prompts, home="/home/u")


def read(events: list[ev.SessionEvent], linear: LinearView | None = None) -> list[str]:
    linear = linear or view()
    return [plain(line) for event in events for line in linear.apply(event)]


def test_a_turn_reads_like_this() -> None:
    assert "\n".join(read(TURN)) + "\n" == SCREEN


@pytest.mark.parametrize("width", [*range(1, 25), 39, 40, 41, 59, 60, 79, 120, 200])
def test_a_turn_fits_any_width(width: int) -> None:
    """H04."""
    linear = view(width)
    for event in TURN:
        for line in linear.apply(event):
            assert line.width <= width


def test_a_terminal_without_unicode_gets_the_same_in_ascii() -> None:
    text = "\n".join(read([*TURN, *run("9", "x", "1\n" * 40)], view(unicode=False)))
    assert text.isascii()
    assert "* Run   python" in text
    assert "> fix the failing test" in text


def test_results_come_in_the_order_of_the_calls_however_they_finish() -> None:
    linear = view()
    assert (
        read(
            [ready("1", ToolKind.READ, path="a"), ready("2", ToolKind.READ, path="b"), finished("2", "x\n")],
            linear,
        )
        == []
    )
    assert read([finished("1", "y\nz\n")], linear) == ["• Read  a  2 lines", "• Read  b  1 line"]


def test_text_comes_out_as_soon_as_it_can_no_longer_change() -> None:
    linear = view()
    assert read([ev.TextDelta("one\n\ntwo")], linear) == ["one"]
    assert read([ev.TextDelta(" more\n\n")], linear) == ["", "two more"]
    assert [plain(line) for line in linear.settle()] == []


def test_a_cut_reply_keeps_what_was_printed_and_comes_again_whole() -> None:
    linear = view()
    lines = read(
        [
            ev.TextDelta("first\n\nsecond, cut"),
            ev.RetryScheduled(2, 5, 0.5, "stream_cut", "the server ended the stream", discarded=True),
            ev.TextDelta("first\n\nsecond, whole\n"),
            ended(seconds=1, rounds=1),
        ],
        linear,
    )
    assert lines == [
        "first",
        "",
        "second, cut",
        "",
        "! reply cut off: the server ended the stream: asking again (2 of 5)",
        "",
        "first",
        "",
        "second, whole",
        "",
        "1.0 s · 1 step",
    ]


def test_reasoning_is_shown_dim_or_not_at_all() -> None:
    events: list[ev.SessionEvent] = [ev.ReasoningDelta("hmm **so**"), ev.TextDelta("a"), ended()]
    linear = view()
    shown = [line for event in events for line in linear.apply(event)]
    assert [plain(line) for line in shown[:4]] == ["thinking", "  hmm so", "", "a"]
    assert all(span.style.dim for line in shown[:2] for span in line.spans if span.text.strip())
    assert read(events, view(reasoning=False))[0] == "a"


def test_reasoning_is_told_from_an_answer_without_any_colour() -> None:
    thoughts = "First this.\n\nThen `that`:\n\n```\nx = 1\n```\n"
    lines = read([ev.ReasoningDelta(thoughts[:8]), ev.ReasoningDelta(thoughts[8:]), ev.TextDelta("So.\n\n")])
    assert lines == ["thinking", "  First this.", "", "  Then `that`:", "", "  x = 1", "", "So."]
    narrow = read([ev.ReasoningDelta("one two three four five"), ev.TextDelta("So.\n\n")], view(width=12))
    assert narrow[:3] == ["thinking", "one two", "three four"]


def test_a_prompt_just_typed_is_not_printed_again_but_set_off() -> None:
    assert read([ev.TurnStarted("p", 0, "x"), ev.TextDelta("a\n\n")], view(prompts=False)) == ["", "a"]


def test_a_failure_shows_more_than_a_success_and_the_end_of_a_run_most() -> None:
    output = "".join(f"row {i}\n" for i in range(100))
    good, bad = read(run("1", "x", output)), read(run("1", "x", output, 1))
    assert good[1:] == ["        … 96 earlier lines", *(f"        row {i}" for i in range(96, 100))]
    assert len(bad) > len(good)
    assert bad[-1] == good[-1]


def test_of_an_output_kept_in_part_the_lines_of_the_whole_are_counted() -> None:
    begun = run("1", "x", "")[:2]
    ended = finished("1", "first\n[…]\nlast\n", CommandDisplay("x", 0, lines=200_000))
    linear = LinearView(width=80, unicode=True, show_reasoning=True, tool_preview=Preview(run=1))
    assert read([*begun, ended], linear)[1:] == ["        … 199,999 earlier lines", "        last"]


def test_a_line_drawn_over_itself_shows_its_last_state() -> None:
    assert read(run("1", "x", "10%\r50%\r100%\r\ndone\n"))[1:] == ["        100%", "        done"]


def test_what_is_hidden_names_the_way_to_it() -> None:
    linear = LinearView(
        width=80, unicode=True, show_reasoning=True, tool_preview=Preview(run=1, expand="/expand {id}")
    )
    assert read(run("1", "x", "1\n2\n3\n"), linear)[1] == "        … 2 earlier lines · /expand 1"


def test_a_command_says_that_it_ran_outside_of_the_sandbox_and_that_what_it_left_was_stopped() -> None:
    def head(display: CommandDisplay) -> str:
        return " ".join(
            read([ready("1", ToolKind.EXECUTE, command="x"), finished("1", "", display)])[0].split()
        )

    assert head(CommandDisplay("x", 0, outside=True)) == "• Run x outside the sandbox 0.1 s ok"
    assert head(CommandDisplay("x", 0, left_over=2)) == "• Run x 2 left running, stopped 0.1 s ok"


def test_failed_refused_and_stopped_calls_say_so() -> None:
    def one(status: str, error_kind: str = "") -> list[str]:
        result = finished("1", "There is no file a.", status=status, error_kind=error_kind)
        return read([ready("1", ToolKind.READ, path="a"), result])

    assert one("error", "not_found") == [
        "• Read  a  x not found",
        "        There is no file a.",
    ]
    assert one("denied")[0] == "• Read  a  x denied"
    assert one("cancelled")[0] == "• Read  a  x cancelled"
    assert read([ready("1", ToolKind.READ, path="a"), ended()])[0] == "• Read  a  x interrupted"
    assert read(run("1", "x", "", None))[0].endswith("x stopped")


@pytest.mark.parametrize("kind", [*ToolErrorKind, "of_the_future", ""])
def test_why_a_call_failed_is_told_in_plain_words(kind: str) -> None:
    expected = {
        "invalid_arguments": "wrong arguments",
        "not_found": "not found",
        "permission_denied": "denied",
        "denied_by_hook": "denied by a hook",
        "plan_mode": "not in plan mode",
        "conflict": "changed meanwhile",
        "timeout": "timeout",
        "cancelled": "cancelled",
        "rate_limited": "too many requests",
        "network": "no connection",
        "sandbox_denied": "denied by the sandbox",
        "sandbox_unavailable": "no sandbox to run in",
        "too_large": "too large",
        "binary": "not text",
        "io": "not usable",
        "unsupported": "not possible",
        "requires_other_tool": "not read yet",
        "internal": "internal error",
        "of_the_future": "failed",
        "": "failed",
    }
    result = finished("1", "", status="error", error_kind=kind)
    assert read([ready("1", ToolKind.READ, path="a"), result])[0] == f"• Read  a  x {expected[kind]}"


def test_what_an_interrupted_command_had_written_is_kept() -> None:
    events: list[ev.SessionEvent] = [
        ready("1", ToolKind.EXECUTE, command="make"),
        ev.ToolStarted("1"),
        ev.ToolProgress("1", "a\nb\n"),
        ended(),
    ]
    assert read(events)[:3] == ["• Run   make  x interrupted", "        a", "        b"]


def test_tools_that_nobody_knows_show_what_they_are_about_from_their_arguments() -> None:
    call = ready("1", ToolKind.OTHER, '{"query": "how\\u001b[2J"}', name="mcp__docs__search")
    assert read([call, finished("1", "a\nb\nc\nd\ne\nf\n")]) == [
        "• mcp__docs__search how␛[2J",
        "        a",
        "        b",
        "        c",
        "        … 3 more lines",
    ]
    broken = ready("1", ToolKind.OTHER, "{broken", name="x")
    assert read([broken, finished("1", "")])[0].startswith("• x")


def test_a_long_or_many_lined_command_is_shortened_visibly() -> None:
    lines = read(run("1", "cat <<E\n1\n2\nE", ""))
    assert lines[0].startswith("• Run   cat <<E … +3 lines ")
    long = read(run("1", "word " * 200, ""))
    assert long[2].endswith("…")
    assert long[3] == "        0.8 s  ok"


def test_the_todo_list_stands_under_its_call() -> None:
    todos = (TodoEntry("1", "first", "completed"), TodoEntry("2", "second", "in_progress"))
    events: list[ev.SessionEvent] = [
        ready("1", ToolKind.PLAN),
        ev.TodoChanged(todos),
        finished("1", "", SummaryDisplay("1 of 2 done")),
    ]
    assert read(events) == ["• Todo  1 of 2 done", "        [x] first", "        [>] second"]


def test_the_users_own_command_is_shown_with_its_end() -> None:
    assert read([ev.ShellFinished("ls nope", "ls: cannot access\n", 2, 0.04)]) == [
        "• Shell ls nope" + " " * 55 + "0.0 s  x 2",
        "        ls: cannot access",
    ]


def test_turns_that_do_not_end_well_say_why_and_what_next() -> None:
    error = ev.ErrorInfo("auth", "the key was refused", "export XAI_API_KEY=…")
    assert read([ended(outcome="error", error=error, seconds=1.2, rounds=1)])[:2] == [
        "x the key was refused",
        "  export XAI_API_KEY=…",
    ]
    assert read([ended(outcome="cancelled", reason="user")])[0] == "! stopped"
    assert read([ended(outcome="cancelled", reason="permission")])[0] == "! stopped: you said no"
    assert (
        read([ended(outcome="max_turns_reached", rounds=3)])[0]
        == "! stopped after 3 steps, the limit set for a turn"
    )
    assert read([ended(denied=("rm x",))])[0] == "! refused for want of permission: rm x"


def test_nothing_from_outside_reaches_a_line_unmarked() -> None:
    """H09 for every place that text can come from."""
    evil = "a\x1b[2J\x9b2J\x07\u202eb\r\nc"
    events: list[ev.SessionEvent] = [
        ev.SessionStarted(evil, evil, evil, PermissionMode.ASK, evil, branch=evil),
        ev.TurnStarted("p", 0, evil),
        ev.PromptQueued("q", evil),
        ev.ReasoningDelta(evil),
        ev.TextDelta(evil),
        *run("1", evil, evil),
        ready("2", ToolKind.EDIT, path=evil),
        finished("2", evil, DiffDisplay(evil, unified_diff("", evil, evil), 1, 0)),
        ready("3", ToolKind.OTHER, '{"query":"\\u001b[2J"}', name=evil),
        finished("3", evil, SummaryDisplay(evil), status="error", error_kind=evil),
        ev.TodoChanged((TodoEntry("1", evil, "pending"),)),
        ev.Notice("warning", evil),
        ev.RetryScheduled(1, 2, 3.0, evil, evil),
        ev.ShellFinished(evil, evil, 1, 0.1),
        ended(outcome="error", error=ev.ErrorInfo(evil, evil, evil), denied=(evil,), reason=evil),
        ev.SessionEnded("x", (evil,)),
    ]
    for text in read(events):
        assert not any(c < " " or "\x7f" <= c <= "\x9f" or c == "\u202e" for c in text)


def test_what_is_committed_and_live_together_is_the_whole_at_every_step() -> None:
    """The live region shows below the committed lines what will be committed next."""
    transcript = Transcript(60, Shown(look=Look()))
    committed: list[str] = []
    for event in [*TURN[:4], *(ev.TextDelta(WHOLE[i : i + 50]) for i in range(0, len(WHOLE), 50))]:
        committed += [plain(line) for line in transcript.apply(event)]
    live = [plain(line) for line in transcript.live()]
    assert committed + live == committed + [plain(line) for line in transcript.close()]


def test_twenty_thousand_tokens_cost_no_more_each_than_a_few() -> None:
    text = (WHOLE + "\n```\n\n") * (80_000 // len(WHOLE))

    def lines(size: int) -> int:
        return len(read([ev.TextDelta(text[i : i + 4]) for i in range(0, size, 4)], view()))

    assert growth(lines, 24_000) < LINEAR
    assert lines(len(text)) > 3000
