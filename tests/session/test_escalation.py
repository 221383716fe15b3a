"""Commands and files that the sandbox keeps in: what is asked, what a yes does, and that nothing leaves without one."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from grokmini.protocol import commands, events
from grokmini.protocol.items import ToolResultItem
from grokmini.protocol.permission import PermissionAnswer
from grokmini.protocol.tools import CommandDisplay
from grokmini.sandbox.probe import Mechanisms
from tests.fakes.model_server import Call, ModelServer, call, reply
from tests.sandbox.places import not_temporary, without_bwrap
from tests.session.sessions import Driver, session

YES, NO = PermissionAnswer("allow"), PermissionAnswer("deny")
ALWAYS = PermissionAnswer("allow", "session")
MODES = ["ask", "accept-edits", "auto", "always-approve"]


@pytest.fixture
def place() -> Iterator[Path]:
    """Not in a temporary folder, where every profile writes."""
    with not_temporary() as folder:
        for inner in ("home", "work", "out"):
            (folder / inner).mkdir()
        yield folder


def driven(place: Path, server: ModelServer, **options: object):  # type: ignore[no-untyped-def]
    env = {"HOME": str(place / "home")}
    options = {"mode": "always-approve", "sandbox": "workspace", "env": env, **options}
    return session(place / "work", server, **options)  # type: ignore[arg-type]


def bash(command: str) -> Call:
    return call("run_terminal_command", command=command)


def write(path: Path, content: str = "new\n") -> Call:
    return call("write", file_path=str(path), content=content)


def results(driver: Driver) -> list[ToolResultItem]:
    return [item for item in driver.history() if isinstance(item, ToolResultItem)]


async def leave_question(driver: Driver) -> events.PermissionAsked:
    """The question about leaving; what comes before it is answered with yes."""
    while True:
        asked = await driver.until(events.PermissionAsked)
        if asked.title != "Run this?":
            return asked
        driver.send(commands.AnswerPermission(asked.request_id, YES))


def answer(driver: Driver, asked: events.PermissionAsked, what: PermissionAnswer) -> None:
    driver.send(commands.AnswerPermission(asked.request_id, what))


@pytest.mark.parametrize("mode", MODES)
async def test_a_stopped_command_is_asked_about_in_every_mode_and_a_yes_runs_it_again_outside(
    place: Path, mode: str
) -> None:
    new = place / "out/new"
    script = [reply(calls=[bash(f"echo $((1 + 1)) > {new}")]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server, mode=mode) as driver:
            driver.prompt("go")
            asked = await leave_question(driver)
            assert not new.exists()
            assert asked.title == "Run it outside of the sandbox?"
            assert asked.subject == f"echo $((1 + 1)) > {new}"
            assert [(option.key, option.decision, option.scope) for option in asked.options] == [
                ("1", "allow", "once"),
                ("3", "deny", "once"),
                ("4", "deny", "once"),
            ]
            assert f"stopped: {new}: only {place}/work" in asked.details[0]
            assert asked.details[1].endswith(" · sandbox workspace")
            answer(driver, asked, YES)
            ended = await driver.until(events.TurnEnded)
        assert ended.outcome == "completed"
        assert new.read_text() == "2\n"
        (result,) = results(driver)
        assert result.prompt_text == "exit: 0\n[ran outside of the sandbox, as the user allowed]"
        (finished,) = driver.of(events.ToolFinished)
        assert isinstance(finished.display, CommandDisplay) and finished.display.outside
        assert [one for one in driver.of(events.Notice) if one.code == "sandbox_stopped"] == []


async def test_a_plain_no_leaves_the_first_result_and_ends_the_turn(place: Path) -> None:
    with ModelServer([reply(calls=[bash(f"touch {place}/out/new")])], strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), NO)
            ended = await driver.until(events.TurnEnded)
        assert (ended.outcome, ended.reason) == ("cancelled", "permission")
        (told,) = [one.text for one in driver.of(events.Notice) if one.code == "sandbox_stopped"]
        assert told == f"The sandbox stopped a write to {place}/out/new (profile workspace)"
        (result,) = results(driver)
        lines = result.prompt_text.split("\n")
        assert lines[:2] == ["exit: 1", "[the user did not let it run outside of the sandbox]"]
        assert lines[2].startswith(f"[stopped by the sandbox: {place}/out/new: only {place}/work")
        assert "cannot touch" in lines[3]
    assert not (place / "out/new").exists()


async def test_a_no_with_a_reason_is_told_and_the_turn_goes_on(place: Path) -> None:
    script = [reply(calls=[bash(f"touch {place}/out/new")]), reply("inside then")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), PermissionAnswer("deny", text="put it in work"))
            ended = await driver.until(events.TurnEnded)
        assert (ended.outcome, ended.text) == ("completed", "inside then")
        (result,) = results(driver)
        assert "[the user did not let it run outside of the sandbox: put it in work]" in result.prompt_text
        assert "[stopped by the sandbox: " in result.prompt_text
    assert not (place / "out/new").exists()


async def test_always_means_exactly_this_command_here_and_in_this_session(place: Path) -> None:
    again = f"echo x >> {place}/out/log"
    script = [
        reply(calls=[bash(again)]),
        reply(calls=[bash(again)]),
        reply(calls=[bash(f"{again} ")]),
        reply("done"),
        reply(calls=[bash("mkdir -p sub; cd sub")]),
        reply(calls=[bash(again)]),
        reply("done"),
        reply(calls=[bash("cd ..; export out=/elsewhere")]),
        reply(calls=[bash(again)]),
        reply("done"),
    ]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), ALWAYS)
            asked = await leave_question(driver)
            assert asked.subject == f"{again} ", "another text is another command"
            assert (place / "out/log").read_text() == "x\nx\n", "the second ran outside at once"
            answer(driver, asked, YES)
            await driver.until(events.TurnEnded)
            for reason in ("another folder", "a variable that it names"):
                driver.prompt("go on")
                asked = await leave_question(driver)
                assert asked.subject == again, reason
                answer(driver, asked, YES)
                await driver.until(events.TurnEnded)
            session_id = driver.wired.directory.name
    assert (place / "out/log").read_text() == "x\n" * 5
    with ModelServer([reply(calls=[bash(again)]), reply("done")], strict=True) as server:
        async with driven(place, server, resume=session_id) as driver:
            driver.prompt("once more")
            answer(driver, await leave_question(driver), NO)
            await driver.until(events.TurnEnded)
    assert (place / "out/log").read_text() == "x\n" * 5


async def test_an_always_for_the_repository_that_was_not_offered_lasts_no_longer(place: Path) -> None:
    script = [reply(calls=[bash(f"touch {place}/out/new")]), reply("done")]
    with ModelServer(script) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), PermissionAnswer("allow", "repository", "Bash"))
            await driver.until(events.TurnEnded)
    assert not list((place / "home").rglob("grants.json"))


async def test_deny_rules_win_over_what_was_let_out(place: Path) -> None:
    command = f"touch {place}/out/new"
    with ModelServer([reply(calls=[bash(command)]), reply("done")], strict=True) as server:
        async with driven(place, server, deny=(f"Bash({command})",)) as driver:
            await driver.ask("go")
        assert driver.of(events.PermissionAsked) == []
        assert results(driver)[0].status == "denied"


async def test_what_was_let_out_under_one_profile_is_asked_about_under_another(place: Path) -> None:
    command = f"echo x >> {place}/out/log"
    script = [reply(calls=[bash(command)]), reply("done"), reply(calls=[bash(command)])]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), ALWAYS)
            await driver.until(events.TurnEnded)
            driver.send(commands.SetSandbox("read-only"))
            await driver.until(events.SandboxChanged, lambda changed: changed.profile == "read-only")
            driver.prompt("again")
            asked = await leave_question(driver)
            assert "sandbox read-only" in asked.details[1]
            answer(driver, asked, NO)
            await driver.until(events.TurnEnded)
    assert (place / "out/log").read_text() == "x\n"


async def test_the_second_run_begins_where_the_first_one_did(place: Path) -> None:
    (place / "work/sub").mkdir()
    command = f"cd sub && export N=$((N + 1)) && echo $N $PWD > {place}/out/new"
    script = [reply(calls=[bash(command)]), reply(calls=[bash("pwd; echo $N")]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), YES)
            await driver.until(events.TurnEnded)
        assert results(driver)[1].output == f"{place}/work/sub\n1\n"
    assert (place / "out/new").read_text() == f"1 {place}/work/sub\n"


async def test_of_several_stopped_calls_each_is_asked_about_until_a_no(place: Path) -> None:
    calls = [bash(f"touch {place}/out/{name}") for name in "abc"]
    with ModelServer([reply(calls=calls)], strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            first = await leave_question(driver)
            answer(driver, first, YES)
            answer(driver, await leave_question(driver), NO)
            ended = await driver.until(events.TurnEnded)
        assert ended.outcome == "cancelled"
        assert len(driver.of(events.PermissionAsked)) == 2
        assert [item.status for item in results(driver)] == ["ok"] * 3
        assert len(driver.of(events.ToolFinished)) == 3
    assert [f"touch {path}" for path in (place / "out").iterdir()] == [first.subject]


async def test_cancelled_at_the_question_the_first_result_stands(place: Path) -> None:
    with ModelServer([reply(calls=[bash(f"echo before; touch {place}/out/new")]), reply("ok")]) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            await leave_question(driver)
            driver.send(commands.CancelTurn())
            ended = await driver.until(events.TurnEnded)
            assert ended.outcome == "cancelled"
            assert driver.of(events.PermissionAnswered)[-1].by == "cancel"
            (finished,) = driver.of(events.ToolFinished)
            assert finished.output.startswith("before\n")
            assert (await driver.ask("go on")).text == "ok"
        assert "[stopped by the sandbox: " in results(driver)[0].prompt_text
    assert not (place / "out/new").exists()


async def test_cancelled_in_the_second_run_it_is_told_as_half_done(place: Path) -> None:
    command = f"touch {place}/out/new && echo waits && sleep 300"
    with ModelServer([reply(calls=[bash(command)])]) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), YES)
            await driver.until(events.ToolProgress, lambda step: "waits" in step.text)
            driver.send(commands.CancelTurn())
            await driver.until(events.TurnEnded)
        (result,) = results(driver)
        assert result.status == "cancelled"
        assert "may be half done" in result.prompt_text
    assert (place / "out/new").exists()


async def test_words_instead_of_an_answer_close_the_question_and_go_to_the_model(place: Path) -> None:
    script = [reply(calls=[bash(f"touch {place}/out/new")]), reply("I see")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            await leave_question(driver)
            driver.send(commands.Prompt("p2", "leave that"))
            driver.send(commands.Interject("p2"))
            ended = await driver.until(events.TurnEnded)
        assert ended.text == "I see"
        assert "the user wrote something else instead" in results(driver)[0].prompt_text
        assert "leave that" in str(server.bodies[-1]["messages"][-1])
    assert not (place / "out/new").exists()


async def test_without_a_person_the_result_names_rule_and_path_and_nothing_is_asked(place: Path) -> None:
    script = [reply(calls=[bash(f"touch {place}/out/new")]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server, interactive=False) as driver:
            ended = await driver.ask("go")
        assert (ended.outcome, ended.exit_code) == ("completed", 0)
        assert driver.of(events.PermissionAsked) == []
        notices = [one for one in driver.of(events.Notice) if one.code == "sandbox_stopped"]
        assert [(one.level, one.text) for one in notices] == [
            ("warning", f"The sandbox stopped a write to {place}/out/new (profile workspace)")
        ], "once"
        note = results(driver)[0].prompt_text.split("\n")[1]
        assert note.startswith(f"[stopped by the sandbox: {place}/out/new: only {place}/work, ")
        assert note.endswith(
            "(sandbox profile workspace); use a path that may be written, or tell the user why it has to be this one]"
        )


UPSTREAM = (
    "git init -qb main . && git init -q --bare up.git && git config user.email a@b.c && git config user.name n"
    " && git commit -q --allow-empty -m one && git remote add origin ./up.git"
)


@pytest.mark.parametrize("end", ["", " 2>&1 | tail -5"])
async def test_a_push_that_succeeded_is_told_with_what_is_missing_and_nobody_is_asked(
    place: Path, end: str
) -> None:
    subprocess.run(["sh", "-c", UPSTREAM], cwd=place / "work", check=True)
    script = [reply(calls=[bash(f"git push -u origin main{end}")]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            ended = await driver.ask("go")
        assert ended.outcome == "completed"
        assert driver.of(events.PermissionAsked) == []
        assert [one.code for one in driver.of(events.Notice)].count("sandbox_stopped") == 1
        text = results(driver)[0].prompt_text
        assert text.startswith(f"exit: 0\n[stopped by the sandbox: {place}/work/.git/config stays read-only, ")
        assert "the push itself succeeded" in text
    assert (place / "work/up.git/refs/heads/main").exists()


async def test_a_pipe_that_hides_the_failure_is_asked_about_though_it_ends_with_0(place: Path) -> None:
    script = [reply(calls=[bash(f"touch {place}/out/new 2>&1 | tail -3")]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), YES)
            await driver.until(events.TurnEnded)
            assert not [one for one in driver.of(events.Notice) if one.code == "sandbox_stopped"]
    assert (place / "out/new").exists()


async def test_what_strict_does_not_show_is_written_after_a_question_without_a_diff(place: Path) -> None:
    there = place / "out/file"
    there.write_text("old\n")
    edit = call("search_replace", file_path=str(there), old_string="old", new_string="new")
    script = [reply(calls=[edit]), reply(calls=[write(there)]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server, sandbox="strict") as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            assert asked.title.startswith("Write"), "an edit needs what cannot be read, so nobody is asked"
            assert asked.diff == ""
            assert any("the present content cannot be shown" in line for line in asked.details)
            answer(driver, asked, YES)
            await driver.until(events.TurnEnded)
        edited, written = results(driver)
        assert edited.status == "error" and "profile strict does not let" in edited.prompt_text
        assert written.status == "ok", written.prompt_text
    assert there.read_text() == "new\n"


async def test_a_profile_that_cannot_be_worked_out_is_told_as_what_it_is(place: Path) -> None:
    settings = place / "home/.config/grokmini/config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[sandbox]\nprotect_env_files = true\n")
    (place / "work/.env.\x01").touch()
    (place / "work/a").touch()
    script = [
        reply(calls=[bash("make")]),
        reply(calls=[write(place / "work/new")]),
        reply(calls=[call("read_file", target_file="a")]),
        reply("done"),
    ]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server, sandbox=None) as driver:
            await driver.ask("go")
        for result in results(driver):
            assert result.status == "error"
            assert "a denied path holds control characters" in result.prompt_text
            assert "failed inside" not in result.prompt_text
    assert not (place / "work/new").exists()


async def test_no_question_and_no_note_without_a_sandbox_or_without_its_doing(place: Path) -> None:
    calls = [bash("touch /proc/none; cat /nowhere; ./work; false"), bash("cat log")]
    (place / "work/log").write_text(f"touch: cannot touch '{place}/out/x': Read-only file system\n")
    for sandbox in ("off", "workspace"):
        with ModelServer([reply(calls=calls), reply("done")], strict=True) as server:
            async with driven(place, server, sandbox=sandbox) as driver:
                await driver.ask("go")
            assert driver.of(events.PermissionAsked) == []
            assert not [
                item
                for item in results(driver)
                if "sandbox]" in item.prompt_text or "[stopped" in item.prompt_text
            ]


@pytest.mark.parametrize("mode", MODES)
async def test_a_file_beyond_the_sandbox_is_asked_about_in_every_mode_with_where_it_really_is(
    place: Path, mode: str
) -> None:
    (place / "work/box").symlink_to("../out")
    script = [reply(calls=[write(place / "work/box/new")]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server, mode=mode) as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            assert not (place / "out/new").exists()
            assert (
                f"it would write {place}/out/new, outside of the sandbox profile workspace" in asked.details[0]
            )
            assert "+new" in asked.diff
            answer(driver, asked, YES)
            await driver.until(events.TurnEnded)
        assert results(driver)[0].status == "ok"
    assert (place / "out/new").read_text() == "new\n"


async def test_a_file_let_out_for_the_session_is_not_asked_about_again_but_its_neighbour_is(
    place: Path,
) -> None:
    script = [
        reply(calls=[write(place / "out/new", "1\n")]),
        reply(calls=[write(place / "out/new", "2\n")]),
        reply(calls=[write(place / "out/other", "3\n")]),
    ]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await driver.until(events.PermissionAsked), ALWAYS)
            asked = await driver.until(events.PermissionAsked)
            assert asked.subject == str(place / "out/other")
            answer(driver, asked, NO)
            await driver.until(events.TurnEnded)
        assert [item.status for item in results(driver)] == ["ok", "ok", "denied"]
    assert (place / "out/new").read_text() == "2\n"
    assert [path.name for path in (place / "out").iterdir()] == ["new"]


async def test_a_link_turned_after_the_yes_leads_nowhere_else(place: Path) -> None:
    (place / "work/box").symlink_to("../out")
    (place / "other").mkdir()
    with ModelServer([reply(calls=[write(place / "work/box/new")]), reply("done")]) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            (place / "work/box").unlink()
            (place / "work/box").symlink_to("../other")
            answer(driver, asked, YES)
            await driver.until(events.TurnEnded)
        assert results(driver)[0].status == "error"
    assert list((place / "other").iterdir()) == list((place / "out").iterdir()) == []


@pytest.mark.parametrize("name", [".grokmini/config.toml", ".git/hooks/pre-commit"])
async def test_what_steers_us_or_git_is_refused_and_never_asked_about(place: Path, name: str) -> None:
    (place / "work/.git/objects").mkdir(parents=True)
    (place / "work/.git/refs").mkdir()
    (place / "work/.git/hooks").mkdir()
    (place / "work/.git/HEAD").write_text("ref: refs/heads/main\n")
    with ModelServer([reply(calls=[write(place / "work" / name)]), reply("done")], strict=True) as server:
        async with driven(place, server) as driver:
            await driver.ask("go")
        assert driver.of(events.PermissionAsked) == []
        assert "Tell the user what to change" in results(driver)[0].prompt_text
    assert not (place / "work" / name).exists()


async def test_without_a_person_a_file_beyond_the_sandbox_is_an_error_that_names_profile_and_path(
    place: Path,
) -> None:
    with ModelServer([reply(calls=[write(place / "out/new")]), reply("done")], strict=True) as server:
        async with driven(place, server, interactive=False) as driver:
            ended = await driver.ask("go")
        assert (ended.exit_code, ended.denied) == (4, (f"Write({place}/out/new)",))
        text = results(driver)[0].prompt_text
        assert f"it would write {place}/out/new, outside of the sandbox profile workspace" in text
        assert "--sandbox" in text
        assert "--allow" not in text
    assert not (place / "out/new").exists()


async def test_where_nothing_keeps_the_profile_each_command_and_edit_asks_and_reading_does_not(
    place: Path,
) -> None:
    (place / "work/a").write_text("text\n")
    script = [
        reply(calls=[call("read_file", target_file="a"), call("grep", pattern="text")]),
        reply(calls=[bash("ls")]),
        reply(calls=[write(place / "work/new")]),
        reply("done"),
    ]
    nothing = Mechanisms(0, seccomp=False, bwrap=None, bwrap_network=False, reasons={})
    options = {"sandbox_best_effort": True, "mechanisms": nothing}
    with ModelServer(script, strict=True) as server:
        async with driven(place, server, **options) as driver:
            driver.prompt("go")
            for subject in ("ls", str(place / "work/new")):
                asked = await driver.until(events.PermissionAsked)
                assert asked.subject == subject
                assert "nothing here keeps the sandbox profile workspace" in " ".join(asked.details)
                answer(driver, asked, YES)
            await driver.until(events.TurnEnded)
        assert [item.status for item in results(driver)] == ["ok"] * 4
    with ModelServer(script[1:2] + script[-1:], strict=True) as server:
        async with driven(place, server, interactive=False, **options) as driver:
            assert (await driver.ask("go")).exit_code == 4
        assert "--sandbox off" in results(driver)[0].prompt_text


async def test_auto_asks_before_a_command_where_the_sandbox_keeps_only_a_part(place: Path) -> None:
    script = [reply(calls=[bash("ls")]), reply(calls=[bash("echo x > new")]), reply("done")]
    partly = without_bwrap("No permissions to create a new namespace")
    with ModelServer(script, strict=True) as server:
        async with driven(place, server, mode="auto", sandbox=None, mechanisms=partly) as driver:
            driver.prompt("go")
            asked = await driver.until(events.PermissionAsked)
            assert asked.subject == "echo x > new"
            label = driver.of(events.SandboxChanged)[-1].label
            assert label.startswith("workspace, ")
            assert any(
                line.endswith(f"sandbox {label}: can write here and in temp, network open")
                for line in asked.details
            )
            assert any("keeps only a part" in line for line in asked.details)
            answer(driver, asked, YES)
            await driver.until(events.TurnEnded)
    with ModelServer(script, strict=True) as server:
        async with driven(place, server, mode="auto", sandbox=None) as driver:
            await driver.ask("go")
            assert not driver.of(events.PermissionAsked), "this machine has all that it takes"


async def test_the_person_s_own_command_is_told_too_and_not_asked_about(place: Path) -> None:
    with ModelServer([reply("never")]) as server:
        async with driven(place, server) as driver:
            driver.send(commands.RunShell(f"touch {place}/out/new"))
            done = await driver.until(events.ShellFinished)
            told = await driver.until(events.Notice)
            assert "stopped by" not in done.output
            assert told.text.startswith(f"The sandbox stopped a write to {place}/out/new (profile workspace)")
            assert "/sandbox" in told.text
            driver.prompt("and now?")
            await driver.until(events.TurnEnded)
        assert driver.of(events.PermissionAsked) == []
        assert f"[stopped by the sandbox: {place}/out/new: only {place}/work" in json.dumps(server.bodies[-1])
    assert not (place / "out/new").exists()
