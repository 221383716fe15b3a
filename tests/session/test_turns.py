"""Turns of a whole session: what is asked, run, kept and told."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import msgspec

from grokmini.protocol import commands, events
from grokmini.protocol.items import AssistantItem, SyntheticReason, ToolResultItem, UserItem
from grokmini.protocol.permission import PermissionAnswer
from tests.fakes.model_server import Call, ModelServer, call, failure, raw, reply, usage_of
from tests.sandbox.liveness import alive, seen_from_here
from tests.session.sessions import session
from tests.waiting import SECONDS, until


def bash(command: str, call_id: str = "") -> Call:
    return call("run_terminal_command", call_id=call_id, command=command, description="test")


async def test_a_prompt_gets_an_answer_and_both_are_in_the_history(tmp_path: Path) -> None:
    with ModelServer([reply("hello there")]) as server:
        async with session(tmp_path, server) as driver:
            ended = await driver.ask("hi")
        assert (ended.outcome, ended.exit_code, ended.text) == ("completed", 0, "hello there")
        users = [item for item in driver.history() if isinstance(item, UserItem) and item.is_real_prompt]
        assert [(item.text, item.prompt_index) for item in users] == [("hi", 0)]
        assert isinstance(driver.history()[-1], AssistantItem)
        sent = server.bodies[0]["messages"]
        assert sent[0]["role"] == "system"
        assert sent[-1] == {"role": "user", "content": "hi"}


async def test_twenty_calls_of_one_reply_give_their_results_in_call_order(tmp_path: Path) -> None:
    turn_of = [
        f"until [ -e {tmp_path}/{n + 1} ]; do sleep 0.02; done; touch {tmp_path}/{n}; " for n in range(19)
    ]
    calls = [bash(f"{wait}echo {n}") for n, wait in enumerate([*turn_of, f"touch {tmp_path}/19; "])]
    with ModelServer([reply(calls=calls), reply("done")], strict=True) as server:
        async with session(tmp_path, server, mode="always-approve") as driver:
            await driver.ask("go")
        results = [m["content"] for m in server.bodies[1]["messages"] if m["role"] == "tool"]
        assert [text.split("\n")[1] for text in results] == [str(n) for n in range(20)]
        started = [event.call_id for event in driver.of(events.ToolStarted)]
        finished = [event.call_id for event in driver.of(events.ToolFinished)]
        assert sorted(started) == sorted(finished), "side by side: the first ends once the last has begun"


async def test_an_edit_of_a_reply_comes_behind_the_calls_before_it_and_before_those_behind_it(
    tmp_path: Path,
) -> None:
    """What stands in one reply is done as if each call waited for the edits before it."""
    calls = [
        bash("until [ -e other ]; do sleep 0.02; done; cat text", "c1"),
        bash("for n in 1 2 3 4 5 6 7 8 9; do grep -q old text || break; sleep 0.02; done; touch other", "c2"),
        call("read_file", call_id="c3", target_file="text"),
        call("search_replace", call_id="c4", file_path="text", old_string="old", new_string="new"),
        call("search_replace", call_id="c5", file_path="text", old_string="new", new_string="newest"),
        bash("cat text", "c6"),
    ]
    (tmp_path / "text").write_text("old\n")
    with ModelServer([reply(calls=calls), reply("done")], strict=True) as server:
        async with session(tmp_path, server, mode="always-approve") as driver:
            await driver.ask("go")
        results = [m["content"] for m in server.bodies[1]["messages"] if m["role"] == "tool"]
    assert results[0] == "exit: 0\nold\n"
    assert results[3:5] == ["text was updated.", "text was updated."]
    assert results[5] == "exit: 0\nnewest\n"


async def test_a_plain_no_ends_the_turn_and_later_calls_are_not_asked_about(tmp_path: Path) -> None:
    calls = [bash("touch a"), bash("touch b")]
    with ModelServer([reply(calls=calls)], strict=True) as server:
        async with session(tmp_path, server) as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            driver.send(commands.AnswerPermission(asked.request_id, PermissionAnswer("deny")))
            ended = await driver.until(events.TurnEnded)
        assert ended.outcome == "cancelled"
        assert len(driver.of(events.PermissionAsked)) == 1
        statuses = [item.status for item in driver.history() if isinstance(item, ToolResultItem)]
        assert statuses == ["denied", "cancelled"]
        assert not list(tmp_path.glob("[ab]"))
        assert len(server.requests) == 1


async def test_a_no_with_a_reason_is_told_to_the_model_and_the_turn_goes_on(tmp_path: Path) -> None:
    with ModelServer([reply(calls=[bash("touch a")]), reply("fine")], strict=True) as server:
        async with session(tmp_path, server) as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            answer = PermissionAnswer("deny", text="use mkdir")
            driver.send(commands.AnswerPermission(asked.request_id, answer))
            ended = await driver.until(events.TurnEnded)
        assert ended.outcome == "completed"
        assert "use mkdir" in server.bodies[1]["messages"][-1]["content"]


async def test_calls_admitted_before_a_no_still_run_and_report(tmp_path: Path) -> None:
    calls = [bash("pwd"), bash("touch a")]
    with ModelServer([reply(calls=calls)], strict=True) as server:
        async with session(tmp_path, server) as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            driver.send(commands.AnswerPermission(asked.request_id, PermissionAnswer("deny")))
            await driver.until(events.TurnEnded)
        results = [item for item in driver.history() if isinstance(item, ToolResultItem)]
        assert [item.status for item in results] == ["ok", "denied"]
        assert str(tmp_path) in results[0].output


async def test_where_nobody_can_be_asked_the_call_is_refused_with_the_way_to_allow_it(tmp_path: Path) -> None:
    with ModelServer([reply(calls=[bash("touch a")]), reply("could not")], strict=True) as server:
        async with session(tmp_path, server, interactive=False) as driver:
            ended = await driver.ask("go")
        assert (ended.outcome, ended.exit_code, ended.denied) == ("completed", 4, ("Bash(touch a)",))
        assert "--allow 'Bash(touch a)'" in server.bodies[1]["messages"][-1]["content"]
        assert not (tmp_path / "a").exists()


async def test_cancelling_a_stream_keeps_what_was_said_and_closes_the_connection(tmp_path: Path) -> None:
    gate = threading.Event()
    with ModelServer([reply("one two three four five", piece=4, gates={4: gate}), reply("ok")]) as server:
        async with session(tmp_path, server) as driver:
            driver.prompt("go")
            await driver.until(events.TextDelta)
            driver.send(commands.CancelTurn())
            ended = await driver.until(events.TurnEnded)
            assert (ended.outcome, ended.exit_code) == ("cancelled", 130)
            assert await asyncio.to_thread(server.requests[0].gone.wait, SECONDS), "the connection is closed"
            gate.set()
            await driver.ask("again")
        history = driver.history()
        partial = next(item for item in history if isinstance(item, AssistantItem))
        assert partial.interrupted
        assert partial.text and "one two three four five".startswith(partial.text)
        reasons = [item.synthetic_reason for item in history if isinstance(item, UserItem)]
        assert SyntheticReason.INTERRUPTION in reasons


def running_in(folder: Path, file: str) -> int | None:
    """Our own number for the shell that wrote its own there; None while it does not run yet."""
    path = folder / file
    text = path.read_text().strip() if path.exists() else ""
    return seen_from_here(int(text), folder) if text else None


async def test_cancelling_running_commands_gives_each_call_a_result_and_leaves_no_process(
    tmp_path: Path,
) -> None:
    calls = [bash(f"echo $$ > pid{n}; trap '' TERM INT; sleep 60") for n in range(3)]
    with ModelServer([reply(calls=calls), reply("ok")], strict=True) as server:
        async with session(tmp_path, server, mode="always-approve") as driver:
            driver.prompt("go")
            while None in (pids := [running_in(tmp_path, f"pid{n}") for n in range(3)]):
                await asyncio.sleep(0.01)
            driver.send(commands.CancelTurn())
            ended = await driver.until(events.TurnEnded)
            assert ended.outcome == "cancelled"
            assert (await driver.ask("and now?")).outcome == "completed"
        assert [item.status for item in driver.history() if isinstance(item, ToolResultItem)] == [
            "cancelled"
        ] * 3
        await until(lambda: not [pid for pid in pids if pid and alive(pid)])


async def test_prompts_sent_while_a_turn_runs_wait_and_run_in_order(tmp_path: Path) -> None:
    gate = threading.Event()
    texts = [str(n) for n in range(50)]
    with ModelServer([reply("first", gate=gate), *(reply(text) for text in texts)]) as server:
        async with session(tmp_path, server) as driver:
            driver.prompt("first")
            await driver.until(events.TurnStarted)
            for text in texts:
                driver.prompt(text)
            await driver.until(events.PromptQueued, lambda event: event.text == "49")
            gate.set()
            ended = [await driver.until(events.TurnEnded) for _ in range(51)]
        assert [event.text for event in ended] == ["first", *texts]
        assert [event.prompt_index for event in ended] == list(range(51))


async def test_an_interjection_reaches_the_model_between_tool_batches(tmp_path: Path) -> None:
    script = [reply(calls=[bash("while [ ! -e go ]; do sleep 0.01; done; echo did")]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with session(tmp_path, server, mode="always-approve") as driver:
            driver.prompt("start")
            await driver.until(events.ToolStarted)
            waiting = driver.prompt("also tidy up")
            await driver.until(events.PromptQueued)
            driver.send(commands.Interject(waiting))
            await driver.until(events.PromptUnqueued, lambda event: event.reason == "interjected")
            (tmp_path / "go").touch()
            ended = await driver.until(events.TurnEnded)
        assert ended.outcome == "completed"
        messages = server.bodies[1]["messages"]
        assert messages[-2]["role"] == "tool" and "did" in messages[-2]["content"]
        assert messages[-1] == {"role": "user", "content": "also tidy up"}
        reasons = [item.synthetic_reason for item in driver.history() if isinstance(item, UserItem)]
        assert SyntheticReason.INTERJECTION in reasons


async def test_the_limit_of_rounds_ends_the_turn_with_a_valid_history(tmp_path: Path) -> None:
    script = [reply(calls=[bash(f"echo {n}")]) for n in range(5)]
    with ModelServer(script, strict=True) as server:
        async with session(tmp_path, server, mode="always-approve", max_turns=2) as driver:
            ended = await driver.ask("go")
        assert (ended.outcome, ended.exit_code, ended.rounds) == ("max_turns_reached", 3, 2)
        assert len(server.requests) == 2


async def test_the_same_call_with_the_same_result_is_noted_then_stopped(tmp_path: Path) -> None:
    """H60."""
    (tmp_path / "a.txt").write_text("same\n")
    script = [reply(calls=[call("read_file", target_file="a.txt")]) for _ in range(9)]
    with ModelServer(script, strict=True) as server:
        async with session(tmp_path, server, interactive=False) as driver:
            ended = await driver.ask("go")
        assert (ended.outcome, ended.exit_code) == ("error", 1)
        assert ended.error is not None and ended.error.kind == "loop"
        assert len(server.requests) == 5
        assert "third time" in server.bodies[3]["messages"][-1]["content"]


async def test_the_same_call_many_times_in_one_reply_is_no_loop(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("same\n")
    calls = [call("read_file", call_id=f"c{n}", target_file="a.txt") for n in range(7)]
    with ModelServer([reply(calls=calls), reply("ok")], strict=True) as server:
        async with session(tmp_path, server, interactive=False) as driver:
            assert (await driver.ask("go")).outcome == "completed"


async def test_an_unknown_tool_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    with ModelServer([reply(calls=[call("read_fil", target_file="a")]), reply("ok")], strict=True) as server:
        async with session(tmp_path, server) as driver:
            await driver.ask("go")
        assert "read_file" in server.bodies[1]["messages"][-1]["content"]


async def test_an_error_of_the_server_ends_the_turn_and_the_next_prompt_works(tmp_path: Path) -> None:
    with ModelServer([failure(401, {"error": {"message": "bad key"}}), reply("ok")]) as server:
        async with session(tmp_path, server) as driver:
            ended = await driver.ask("one")
            assert (ended.outcome, ended.exit_code) == ("error", 5)
            assert (await driver.ask("two")).text == "ok"
        assert [m["content"] for m in server.bodies[1]["messages"] if m["role"] == "user"][-2:] == [
            "one",
            "two",
        ]


async def test_the_users_own_command_runs_unasked_and_its_output_is_in_the_context(tmp_path: Path) -> None:
    with ModelServer([reply("I see")]) as server:
        async with session(tmp_path, server) as driver:
            driver.send(commands.RunShell("echo out; exit 3"))
            finished = await driver.until(events.ShellFinished)
            assert finished.exit_code == 3 and "out" in finished.output
            await driver.ask("what was that?")
        messages = server.bodies[0]["messages"]
        assert messages[0]["role"] == "system", "the prefix stays in front"
        assert "echo out" in messages[-2]["content"] and "exit: 3" in messages[-2]["content"]


async def test_changing_the_folder_moves_tools_and_is_told_to_the_model(tmp_path: Path) -> None:
    """H25: the session stays where it is stored."""
    (tmp_path / "sub").mkdir()
    script = [reply("ok"), reply(calls=[bash("pwd")]), reply("ok")]
    with ModelServer(script, strict=True) as server:
        async with session(tmp_path, server, mode="always-approve") as driver:
            await driver.ask("one")
            driver.send(commands.ChangeDirectory("sub"))
            assert (await driver.until(events.DirectoryChanged)).cwd == str(tmp_path / "sub")
            await driver.ask("two")
            driver.send(commands.ChangeDirectory("~nobody-of-that-name"))
            assert "nobody-of-that-name" in (await driver.until(events.Notice)).text
        assert str(tmp_path / "sub") in server.bodies[2]["messages"][-1]["content"]
        prompts = [item for item in driver.history() if isinstance(item, UserItem) and item.is_real_prompt]
        assert len(prompts) == 2


async def test_the_model_can_be_changed_between_prompts(tmp_path: Path) -> None:
    with ModelServer([reply("a"), reply("b")]) as server:
        async with session(tmp_path, server) as driver:
            await driver.ask("one")
            driver.send(commands.SetModel("other-model"))
            assert (await driver.until(events.ModelChanged)).model == "other-model"
            await driver.ask("two")
        assert [body["model"] for body in server.bodies] == ["fake-model", "other-model"]


async def test_a_cancel_right_behind_a_prompt_stops_that_prompt_and_keeps_its_text(tmp_path: Path) -> None:
    with ModelServer([reply("late")]) as server:
        async with session(tmp_path, server) as driver:
            driver.prompt("never lost")
            driver.send(commands.CancelTurn())
            ended = await driver.until(events.TurnEnded)
        users = [item.text for item in driver.history() if isinstance(item, UserItem) and item.is_real_prompt]
        assert users == ["never lost"]
        assert ended.outcome == "cancelled"


async def test_a_big_prompt_goes_to_a_file_and_the_model_is_told_where(tmp_path: Path) -> None:
    text = "begin " + "x" * 60_000 + " end?"
    with ModelServer([reply("ok")]) as server:
        async with session(tmp_path, server) as driver:
            await driver.ask(text)
            sent = server.bodies[0]["messages"][-1]["content"]
            path = sent.rsplit(" is in ", 1)[1].split(";")[0]
            assert Path(path).read_text() == text
        assert sent.startswith("begin ") and " end?" in sent and len(sent) < 27_000


async def test_an_answer_that_cannot_be_stored_still_counts_and_says_so(
    tmp_path: Path, fresh_home: Path
) -> None:
    state = fresh_home / ".local/state/grokmini"
    state.mkdir(parents=True)
    (state / "grants.json").mkdir()
    (tmp_path / "work").mkdir()
    with ModelServer([reply(calls=[bash("touch a")]), reply("ok")], strict=True) as server:
        async with session(tmp_path / "work", server) as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            always = next(option for option in asked.options if option.scope == "repository")
            answer = PermissionAnswer("allow", "repository", always.rule)
            driver.send(commands.AnswerPermission(asked.request_id, answer))
            ended = await driver.until(events.TurnEnded)
        assert ended.outcome == "completed"
        assert (tmp_path / "work/a").exists()
        assert [event.code for event in driver.of(events.Notice) if event.code != "sandbox"] == ["grant"]


async def test_a_reply_that_repeats_itself_is_asked_for_again_twice_and_then_kept(tmp_path: Path) -> None:
    looping = reply("I will now do it. " * 400, piece=200)
    with ModelServer([looping, looping, looping]) as server:
        async with session(tmp_path, server) as driver:
            ended = await driver.ask("go")
        assert ended.outcome == "completed"
        assert ended.text == "I will now do it. " * 400
        assert [event.kind for event in driver.of(events.RetryScheduled)] == ["repetition"] * 2
        assert [event.code for event in driver.of(events.Notice)] == ["repetition"]
        assert sum(isinstance(item, AssistantItem) for item in driver.history()) == 1


async def test_reasoning_that_repeats_itself_counts_too(tmp_path: Path) -> None:
    looping = reply("never shown", reasoning="Let me think about it again. " * 400, piece=200)
    with ModelServer([looping, reply("fine")]) as server:
        async with session(tmp_path, server) as driver:
            ended = await driver.ask("go")
        assert ended.text == "fine"


async def test_a_limit_for_the_whole_reply_ends_the_turn(tmp_path: Path, fresh_home: Path) -> None:
    gate = threading.Event()
    config = fresh_home / ".config/grokmini"
    config.mkdir(parents=True)
    with ModelServer([reply("slow answer", piece=2, gates={2: gate})]) as server:
        (config / "config.toml").write_text(
            f'[model.slow]\nmodel = "fake-model"\nbase_url = "{server.url}"\nlimits = {{ whole = 0.2 }}\n'
        )
        async with session(tmp_path, None, model="slow") as driver:
            ended = await driver.ask("go")
        gate.set()
    assert ended.error is not None and ended.error.kind == "timeout" and "limits.whole" in ended.error.hint


async def test_a_stopped_command_keeps_what_it_printed_and_how_long_it_ran(tmp_path: Path) -> None:
    script = [reply(calls=[bash("echo tick; touch began; sleep 60")]), reply("ok")]
    with ModelServer(script, strict=True) as server:
        async with session(tmp_path, server, mode="always-approve") as driver:
            driver.prompt("go")
            await driver.until(events.ToolProgress, lambda event: "tick" in event.text)
            driver.send(commands.CancelTurn())
            finished = await driver.until(events.ToolFinished)
            await driver.until(events.TurnEnded)
            await driver.ask("go on")
        assert finished.status == "cancelled" and "tick" in finished.output and finished.seconds > 0
        results = [m["content"] for m in server.bodies[1]["messages"] if m["role"] == "tool"]
        assert "tick" in results[0] and "half done" in results[0]


async def test_the_users_own_command_keeps_its_output_when_it_is_stopped(tmp_path: Path) -> None:
    with ModelServer([reply("I see")]) as server:
        async with session(tmp_path, server) as driver:
            driver.send(commands.RunShell("echo tick; sleep 60"))
            await driver.until(events.ToolProgress, lambda event: "tick" in event.text)
            driver.send(commands.CancelTurn())
            finished = await driver.until(events.ShellFinished)
        assert finished.exit_code is None and "tick" in finished.output


async def test_an_interjection_while_the_reply_streams_comes_before_its_calls(tmp_path: Path) -> None:
    gate = threading.Event()
    first = reply("thinking aloud", calls=[bash("touch a")], piece=4, gates={2: gate})
    with ModelServer([first, reply("as you wish")], strict=True) as server:
        async with session(tmp_path, server, mode="always-approve") as driver:
            driver.prompt("start")
            await driver.until(events.TextDelta)
            waiting = driver.prompt("do not touch anything")
            await driver.until(events.PromptQueued)
            driver.send(commands.Interject(waiting))
            await driver.until(events.PromptUnqueued)
            gate.set()
            ended = await driver.until(events.TurnEnded)
        assert ended.outcome == "completed" and not (tmp_path / "a").exists()
        assert server.bodies[1]["messages"][-1]["content"] == "do not touch anything"


async def test_leaving_in_the_middle_of_a_turn_leaves_a_true_summary(tmp_path: Path) -> None:
    gate = threading.Event()
    with ModelServer([reply("one", usage=usage_of(100, 5)), reply("two", piece=1, gates={3: gate})]) as server:
        async with session(tmp_path, server) as driver:
            await driver.ask("first")
            driver.prompt("second")
            await driver.until(events.TextDelta)
        gate.set()
        summary = msgspec.json.decode((driver.wired.directory / "summary.json").read_bytes())
    assert summary["turns"] == 2
    assert summary["messages"] == len(driver.history())
    assert summary["usage"]["fake-model"]["calls"] == 2 and summary["usage"]["fake-model"]["incomplete"]


async def test_words_sent_into_a_turn_that_is_then_stopped_come_behind_the_stop(tmp_path: Path) -> None:
    gate = threading.Event()
    with ModelServer(
        [reply("one two three", piece=4, gates={2: gate}), reply("as you say")], strict=True
    ) as server:
        async with session(tmp_path, server) as driver:
            driver.prompt("start")
            await driver.until(events.TextDelta)
            waiting = driver.prompt("rather this")
            await driver.until(events.PromptQueued)
            driver.send(commands.Interject(waiting))
            await driver.until(events.PromptUnqueued)
            driver.send(commands.CancelTurn())
            await driver.until(events.TurnEnded)
            gate.set()
            await driver.ask("go on")
        said = [m["content"] for m in server.bodies[1]["messages"] if m["role"] == "user"][-3:]
        assert "stopped the turn" in said[0] and said[1:] == ["rather this", "go on"]


async def test_what_came_of_a_reply_that_fails_in_the_middle_is_known_to_the_model_afterwards(
    tmp_path: Path,
) -> None:
    broken = b'data: {"error": {"message": "the key was withdrawn", "code": 401}}\n\n'
    half = b'data: {"choices": [{"index": 0, "delta": {"content": "The first half"}}]}\n\n'
    with ModelServer([raw(half, broken), reply("and the second")], strict=True) as server:
        async with session(tmp_path, server) as driver:
            ended = await driver.ask("go")
            assert (ended.outcome, ended.text) == ("error", "The first half")
            await driver.ask("go on")
        assert AssistantItem("The first half", model="fake-model", interrupted=True) in driver.history()
        said = [(m["role"], m["content"]) for m in server.bodies[1]["messages"][-3:]]
        assert said == [("user", "go"), ("assistant", "The first half"), ("user", "go on")]
