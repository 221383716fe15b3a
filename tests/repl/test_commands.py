"""Slash commands: what each gives back, and that the table finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.protocol import commands
from grokmini.protocol.errors import UsageError
from grokmini.protocol.events import (
    PermissionAsked,
    PromptQueued,
    SandboxChanged,
    SessionEnded,
    SessionStarted,
    ToolCallReady,
    ToolFinished,
    TurnEnded,
    TurnStarted,
    UsageReported,
)
from grokmini.protocol.model import Usage
from grokmini.protocol.permission import PermissionMode
from grokmini.protocol.tools import CommandDisplay, DiffDisplay, ToolEnvelope, ToolKind, ToolNamespace
from grokmini.render.lines import plain
from grokmini.repl.commands import table
from grokmini.repl.commands.result import CommandContext, GoOn, Leave, Page, Result, Say
from grokmini.repl.dispatch import Message, Shell, Slash, Submission, classify
from grokmini.repl.session_state import SessionState
from tests.repl.scripted_session import Figures, ScriptedFactory, ScriptedSession


async def result_of(
    text: str,
    *,
    state: SessionState | None = None,
    session: ScriptedSession | None = None,
    width: int = 80,
) -> Result:
    """What `/text` gives back."""
    slash = classify(text)
    assert isinstance(slash, Slash)
    row = table.find(slash.name)
    assert row is not None
    opened = (session or ScriptedSession()).opened
    context = CommandContext(opened, ScriptedFactory(), state or started(), width)
    return await table.load(row)(slash.argument, context)


def started(cwd: str = "/work") -> SessionState:
    state = SessionState()
    state.apply(SessionStarted("0.1.0", cwd, "test-model", PermissionMode.ASK, "none"), 0.0)
    return state


def rows(result: Result) -> list[str]:
    assert isinstance(result, Say)
    return [plain(line) for line in result.lines]


@pytest.mark.parametrize(
    ("text", "submission"),
    [
        ("/help", Slash("help", "")),
        ("/model  grok-4.5 ", Slash("model", "grok-4.5")),
        ("/etc/hosts is wrong", Message("/etc/hosts is wrong")),
        ("!ls", Shell("ls")),
        ("hi /help", Message("hi /help")),
        ("two\nlines", Message("two\nlines")),
    ],
)
def test_a_text_is_a_command_a_shell_command_or_a_prompt(text: str, submission: Submission) -> None:
    assert classify(text) == submission


@pytest.mark.parametrize("row", table.COMMANDS, ids=lambda row: row.name)
def test_every_row_of_the_table_has_its_function(row: table.CommandRow) -> None:
    assert callable(table.load(row))
    assert table.find(row.name.upper()) is row
    assert all(table.find(alias) is row for alias in row.aliases)


def test_names_and_aliases_are_used_once() -> None:
    every = [name for row in table.COMMANDS for name in (row.name, *row.aliases)]
    assert len(every) == len(set(every))


def test_an_unknown_command_names_the_nearest_or_the_list() -> None:
    assert table.find("rewind") is None
    assert table.unknown("qiut") == "there is no command /qiut: did you mean /quit?"
    assert table.unknown("zzzzzz") == "there is no command /zzzzzz: /help lists them"


async def test_help_names_every_command_and_fits_eighty_columns() -> None:
    shown = rows(await result_of("/help"))
    assert all(any(line.startswith(f"/{row.name}") for line in shown) for row in table.COMMANDS)
    assert max(map(len, shown)) <= 80


async def test_help_is_broken_between_words_where_it_is_narrow() -> None:
    wide = rows(await result_of("/help", width=80))
    narrow = rows(await result_of("/help", width=40))
    assert max(map(len, narrow)) <= 40
    assert " ".join(narrow).split() == " ".join(wide).split()
    at = narrow.index("/sandbox [name]")
    assert narrow[at + 1 : at + 3] == ["  show or change what confines commands", "/new"]


async def test_settings_are_commands_to_the_session() -> None:
    assert await result_of("/model other-model") == commands.SetModel("other-model")
    assert await result_of("/mode acceptEdits") == commands.SetMode(PermissionMode.ACCEPT_EDITS)
    assert await result_of("/queue clear") == commands.EditQueue("clear")


async def test_a_model_that_its_server_does_not_list_is_told_with_what_takes_it_all_the_same() -> None:
    assert rows(await result_of("/model odd-model")) == [
        "! the server does not list odd-model; near: old-model.",
        "/model odd-model once more takes it all the same.",
    ]


async def test_without_an_argument_they_show_what_is_set() -> None:
    assert rows(await result_of("/model")) == [
        "model: test-model",
        "  /model test-model  (in use)",
        "  /model other-model",
    ]
    assert rows(await result_of("/mode"))[0].startswith("* ask: ")
    assert rows(await result_of("/cd")) == ["folder: /work"]
    assert rows(await result_of("/queue")) == ["nothing is queued"]


@pytest.mark.parametrize("text", ["/mode sometimes", "/mode dontAsk", "/queue what", "/cd /no/such/folder"])
async def test_a_wrong_argument_says_what_is_right(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        await result_of(text)
    assert raised.value.hint


async def test_the_sandbox_is_shown_row_by_row_with_the_profiles_there_are() -> None:
    assert await result_of("/sandbox strict") == commands.SetSandbox("strict")
    assert rows(await result_of("/sandbox")) == [
        "profile    workspace",
        "write      /work",
        "           /tmp",
        "profiles   off, workspace, strict, devbox",
        "/sandbox NAME changes it: tightening at once, loosening after a question",
    ]


def test_what_is_in_force_follows_the_session_and_its_question_outlives_a_turn() -> None:
    state = started()
    state.apply(SandboxChanged("workspace", "workspace, in part", confined=True, cause="proved"), 0.0)
    assert state.sandbox == "workspace, in part"
    state.apply(TurnStarted("p", 1, "go"), 0.0)
    about_the_call, about_the_session = (
        PermissionAsked(name, call_id, "Loosen?", "", ()) for name, call_id in (("a", "1-1"), ("b", ""))
    )
    state.apply(about_the_call, 0.0)
    state.apply(about_the_session, 0.0)
    state.apply(TurnEnded(1, "completed", 0, "", Usage()), 0.0)
    assert state.questions == [about_the_session]
    state.apply(SessionEnded("quit"), 0.0)
    assert state.questions == []


async def test_cd_goes_from_the_sessions_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    assert await result_of("/cd sub", state=started(str(tmp_path))) == commands.ChangeDirectory(
        str(tmp_path / "sub")
    )


async def test_the_queue_is_listed_in_order() -> None:
    state = started()
    for number in (1, 2):
        state.apply(PromptQueued(f"p{number}", f"prompt\n{number}"), 0.0)
    assert rows(await result_of("/queue", state=state))[:2] == ["1 prompt 1", "2 prompt 2"]


async def test_leaving_and_a_fresh_session_are_effects() -> None:
    assert await result_of("/quit") == Leave()
    assert isinstance(await result_of("/new"), GoOn)


async def test_no_fresh_session_while_a_turn_runs() -> None:
    state = started()
    state.apply(TurnStarted("p", 1, "go"), 0.0)
    assert "Ctrl-C" in rows(await result_of("/new", state=state))[0]


async def test_the_diff_is_shown_whole() -> None:
    session = ScriptedSession()
    assert rows(await result_of("/diff", session=session)) == ["this session has changed no file"]
    session.diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert rows(await result_of("/diff", session=session)) == ["--- a/x", "+++ b/x", "@@ -1 +1 @@", "-a", "+b"]


async def test_the_diff_after_going_on_names_what_was_changed_before() -> None:
    session = ScriptedSession()

    def edited(path: str) -> ToolFinished:
        return ToolFinished("c", "ok", "", 0.1, DiffDisplay(path, "-a\n+b\n", 1, 1))

    opened = SessionStarted("0.1.0", "/work", "m", PermissionMode.ASK, "none")
    session.past = [opened, edited("calc.py"), edited("b.py"), edited("calc.py"), opened]
    log = f"grokmini log {session.handle.session_id[:8]} shows how"
    assert rows(await result_of("/diff", session=session)) == [
        "this session has changed no file since it was taken up again",
        f"before that it changed calc.py, b.py: {log}",
    ]
    session.past.append(edited("c.py"))
    session.diff = "--- a/c.py\n+++ b/c.py\n"
    assert rows(await result_of("/diff", session=session))[-1] == f"before that it changed calc.py, b.py: {log}"
    session.past[:1] = [edited(f"{number}.py") for number in range(20)]
    assert "7.py and 14 more: " in rows(await result_of("/diff", session=session))[-1]


async def test_usage_counts_tokens_by_model_and_the_window() -> None:
    session, state = ScriptedSession(), started()
    assert "no request" in rows(await result_of("/usage", session=session))[0]
    usage = Usage(calls=2, input=1000, cached_input=500, output=70, reasoning=20, cost_usd=0.0123)
    session.usage = Figures({"m": Usage(calls=1, input=10, output=7)}, {"m": usage})
    state.apply(UsageReported("m", usage, 1000, 4000), 0.0)
    assert rows(await result_of("/usage", session=session, state=state)) == [
        "session:",
        "  m: 2 requests, 1,500 in (500 cached), 70 out (20 reasoning), $0.0123 reported",
        "last prompt:",
        "  m: 1 request, 10 in, 7 out",
        "context: about 25 % of 4,000 tokens",
    ]


def test_a_mark_alone_asks_for_help_and_is_no_prompt() -> None:
    assert classify("/") == classify(" ! ") == classify("?") == Slash("help", "")


def test_the_word_that_leaves_other_programs_leaves_this_one() -> None:
    assert classify("exit") == classify(" quit\n") == Slash("quit", "")
    assert classify("exit the loop early") == Message("exit the loop early")


async def test_the_transcript_holds_everything_in_full() -> None:
    session = ScriptedSession()
    output = "\n".join(f"line {number}" for number in range(200))
    session.past = [
        TurnStarted("p", 0, "count"),
        ToolCallReady(
            "1-1",
            ToolEnvelope("run_terminal_command", ToolKind.EXECUTE, ToolNamespace.GROK_BUILD, "Run", False),
            "{}",
        ),
        ToolFinished("1-1", "ok", output, 0.1, CommandDisplay("count", 0)),
    ]
    result = await result_of("/transcript", session=session)
    assert isinstance(result, Page)
    shown = "\n".join(plain(line) for line in result.lines)
    assert all(f"line {number}" in shown for number in range(200))
    session.past = []
    assert isinstance(await result_of("/transcript", session=session), Say)


async def test_repaint_prints_the_last_two_turns_and_no_more() -> None:
    session = ScriptedSession()
    session.past = [TurnStarted(str(number), number, f"prompt {number}") for number in range(5)]
    assert [row for row in rows(await result_of("/repaint", session=session)) if row] == [
        "› prompt 3",
        "› prompt 4",
    ]
    session.past = []
    assert rows(await result_of("/repaint", session=session)) == ["there is no turn to print again"]
