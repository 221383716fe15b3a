"""A session as Markdown: complete, in order, and nothing in it breaks out of its place."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.protocol.events import (
    Notice,
    PromptQueued,
    PromptUnqueued,
    ReasoningDelta,
    SessionEvent,
    SessionStarted,
    ShellFinished,
    TextDelta,
    TodoChanged,
    ToolCallReady,
    ToolFinished,
    ToolProgress,
    TurnEnded,
    TurnStarted,
)
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import CommandDisplay, DiffDisplay, TodoEntry, ToolKind
from grokmini.render.markdown_log import MarkdownLog
from tests.render.events import finished, ready


def markdown(*events: SessionEvent, reasoning: bool = True) -> str:
    """All of it."""
    log = MarkdownLog(reasoning=reasoning)
    return "".join([log.apply(event) for event in events]) + log.settle()


def run(call_id: str, command: str) -> ToolCallReady:
    """A command that the model wants to run."""
    return ready(call_id, ToolKind.EXECUTE, command=command)


def ran(call_id: str, output: str, code: int = 0) -> ToolFinished:
    """Its end."""
    return finished(call_id, output, CommandDisplay("x", code), seconds=0.8)


def test_a_prompt_is_a_heading_with_a_quote_and_a_reply_is_as_it_was_written() -> None:
    events = TurnStarted("p", 0, "fix\n# this"), TextDelta("It **is"), TextDelta("** done.\n")
    assert markdown(*events) == "## Prompt 1\n\n> fix\n> # this\n\nIt **is** done.\n\n"


def test_calls_come_in_the_order_in_which_they_began() -> None:
    text = markdown(run("1", "first"), run("2", "second"), ran("2", "two"), ran("1", "one", 1))
    assert text == (
        "**Run** `first` · 0.8 s · x 1\n\n```\none\n```\n\n**Run** `second` · 0.8 s · ok\n\n```\ntwo\n```\n\n"
    )


def test_what_is_complete_comes_at_once_and_what_is_not_waits() -> None:
    log = MarkdownLog()
    assert log.apply(run("1", "first")) == ""
    assert log.apply(ToolProgress("1", "half")) == ""
    assert "half" in log.settle()


def test_an_edit_is_a_diff() -> None:
    edit = ready("1", ToolKind.EDIT, path="/w/a.py")
    end = finished("1", "done", DiffDisplay("/w/a.py", "@@ -1 +1 @@\n-a\n+b\n", 1, 1))
    started = SessionStarted("0.1.0", "/w", "m", PermissionMode.ASK, "none")
    text = markdown(started, edit, end)
    assert "**Edit** `a.py` · +1 -1\n\n```diff\n@@ -1 +1 @@\n-a\n+b\n```\n" in text


def test_reasoning_is_a_quote_or_left_out() -> None:
    events = ReasoningDelta("hm\nwell"), TextDelta("So.")
    assert markdown(*events) == "> *Reasoning:* hm\n> well\n\nSo.\n\n"
    assert markdown(*events, reasoning=False) == "So.\n\n"


def test_words_into_a_running_turn_commands_of_the_person_todos_and_notices() -> None:
    text = markdown(
        PromptQueued("q", "faster"),
        PromptUnqueued("q", "interjected"),
        ShellFinished("ls", "a\nb\n", 2, 0.1),
        TodoChanged((TodoEntry("1", "do", "completed"), TodoEntry("2", "then", "pending"))),
        Notice("warning", "slow down"),
        TurnEnded(0, "completed", 0, "", Usage(), rounds=2, seconds=3.0),
    )
    assert text == (
        "## Meanwhile\n\n> faster\n\n**Shell** `ls` · exit 2\n\n```\na\nb\n```\n\n- [x] do\n- [ ] then\n\n"
        "> *warning: slow down*\n\n*3.0 s · 2 steps*\n\n---\n\n"
    )


def test_a_command_of_the_person_that_was_stopped_is_told_as_that() -> None:
    assert markdown(ShellFinished("sleep 9", "", None, 0.1)).startswith("**Shell** `sleep 9` · stopped\n")


def test_a_fence_is_longer_than_any_in_the_output() -> None:
    text = markdown(run("1", "cat"), ran("1", "```\n````\n</x>"))
    assert "`````\n```\n````\n</x>\n`````\n" in text


def test_backticks_in_a_command_stay_inside_the_code() -> None:
    assert "**Run** ``echo `date` now`` ·" in markdown(run("1", "echo `date` now"), ran("1", ""))
    assert "**Run** `` `date` `` ·" in markdown(run("1", "`date`"), ran("1", ""))


@settings(max_examples=50)
@given(st.text(alphabet="a`\n>#\x1b\u202e ", max_size=30))
def test_no_control_character_comes_through_and_output_never_leaves_its_fence(text: str) -> None:
    shown = markdown(
        TurnStarted("p", 0, text), TextDelta(text), run("1", "x"), ran("1", text), TextDelta("END")
    )
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert shown.endswith("\n\nEND\n\n")
