"""The sandbox of a running session: proved when it is needed, changed by the person, told to the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from grokmini.protocol import commands, events
from grokmini.protocol.errors import SandboxError
from grokmini.protocol.items import SyntheticReason, UserItem
from grokmini.protocol.permission import PermissionAnswer
from grokmini.sandbox.probe import Mechanisms
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.sandbox.places import not_temporary
from tests.session.sessions import Driver, session
from tests.waiting import until

YES, NO = PermissionAnswer("allow"), PermissionAnswer("deny")


def run(command: str) -> Reply:
    return reply(calls=[call("run_terminal_command", command=command)])


def output_of(driver: Driver) -> str:
    return driver.of(events.ToolFinished)[-1].output


def reminders(driver: Driver) -> list[str]:
    return [
        item.text
        for item in driver.history()
        if isinstance(item, UserItem) and item.synthetic_reason is SyntheticReason.SYSTEM_REMINDER
    ]


def profile_kept(driver: Driver) -> str:
    return str(json.loads((driver.wired.directory / "summary.json").read_bytes()).get("sandbox_profile", ""))


@pytest.fixture
def place() -> Iterator[Path]:
    with not_temporary() as folder:
        for inner in ("home", "work", "other"):
            (folder / inner).mkdir()
        yield folder


def environment(place: Path) -> dict[str, str]:
    return {"HOME": str(place / "home")}


def driven(place: Path, server: ModelServer | None, **options: object):  # type: ignore[no-untyped-def]
    options = {"mode": "always-approve", "env": environment(place), **options}
    return session(place / "work", server, **options)  # type: ignore[arg-type]


async def test_a_named_profile_is_proved_before_the_session_begins(place: Path) -> None:
    async with driven(place, None, model="demo", sandbox="read-only") as driver:
        started = await driver.until(events.SessionStarted)
        assert started.sandbox == driver.wired.sandbox.runner.enforcement.label
        assert driver.wired.sandbox.runner.enforcement.confined


@pytest.mark.parametrize("interactive", [True, False])
async def test_a_run_whose_commands_cannot_be_confined_says_so_once_and_ends_with_code_9(
    place: Path, monkeypatch: pytest.MonkeyPatch, interactive: bool
) -> None:
    with ModelServer([run("touch one"), run("touch two"), reply("cannot")], strict=True) as server:
        async with driven(place, server, sandbox=None, interactive=interactive) as driver:
            monkeypatch.setattr("grokmini.sandbox.launch.PYTHON", "/no/such/python")
            ended = await driver.ask("go")
        assert (ended.outcome, ended.exit_code) == ("completed", 9)
        told = [one for one in driver.of(events.Notice) if one.code == "sandbox_unavailable"]
        assert len(told) == 1 and told[0].level == "warning"
        assert told[0].text.startswith("Not done: the launcher cannot be started")
        assert [one.error_kind for one in driver.of(events.ToolFinished)] == ["sandbox_unavailable"] * 2
    assert list((place / "work").iterdir()) == []


async def test_tightening_counts_from_the_next_command_on_and_asks_nothing(place: Path) -> None:
    with ModelServer(
        [run("echo a >one; echo $?"), reply("ok"), run("echo b >two; echo $?"), reply("ok")]
    ) as server:
        async with driven(place, server, sandbox="workspace", interactive=False) as driver:
            await driver.ask("go")
            assert output_of(driver) == "0\n"
            driver.send(commands.SetSandbox("read-only"))
            await driver.ask("again")
            assert (
                "cannot create" in output_of(driver)
                or "Read-only" in output_of(driver)
                or "denied" in output_of(driver)
            )
            changed = driver.of(events.SandboxChanged)[-1]
            assert (changed.profile, changed.cause, changed.confined) == ("read-only", "chosen", True)
            assert changed.network_blocked
            assert driver.of(events.PermissionAsked) == []
    assert (place / "work/one").exists() and not (place / "work/two").exists()


async def test_a_command_that_runs_goes_on_under_its_own_profile(place: Path) -> None:
    script = "touch up; until [ -e go ]; do sleep 0.02; done; echo x >late; echo $?"
    with ModelServer([run(script), reply("ok")]) as server:
        async with driven(place, server, sandbox="workspace") as driver:
            driver.prompt("go")
            await until((place / "work/up").exists)
            driver.send(commands.SetSandbox("read-only"))
            await driver.until(events.SandboxChanged)
            (place / "work/go").touch()
            await driver.until(events.TurnEnded)
            assert output_of(driver) == "0\n"


async def test_loosening_asks_and_lists_what_would_be_granted(place: Path) -> None:
    async with driven(place, None, model="demo", sandbox="read-only") as driver:
        driver.send(commands.SetSandbox("workspace"))
        asked = await driver.until(events.PermissionAsked)
        assert asked.title == "Loosen the sandbox for commands and file tools from read-only to workspace?"
        assert any(f"write in {place / 'work'}" in detail for detail in asked.details)
        assert "they may then use the network" in asked.details
        driver.send(commands.AnswerPermission(asked.request_id, NO))
        notice = await driver.until(
            events.Notice, lambda notice: notice.code == "sandbox" and "stays" in notice.text
        )
        assert notice.text == "The sandbox stays read-only."
        assert driver.wired.sandbox.profile == "read-only"
        driver.send(commands.SetSandbox("off"))
        asked = await driver.until(events.PermissionAsked)
        assert asked.details == ("they may then do whatever you can: nothing is confined",)
        driver.send(commands.AnswerPermission(asked.request_id, YES))
        changed = await driver.until(events.SandboxChanged)
        assert (changed.profile, changed.label, changed.confined) == ("off", "off", False)


async def test_a_stopped_turn_takes_the_question_with_it(place: Path) -> None:
    async with driven(place, None, model="demo", sandbox="read-only") as driver:
        driver.send(commands.SetSandbox("off"))
        asked = await driver.until(events.PermissionAsked)
        driver.send(commands.CancelTurn())
        answered = await driver.until(events.PermissionAnswered)
        assert (answered.request_id, answered.answer.decision) == (asked.request_id, "deny")
        assert driver.wired.sandbox.profile == "read-only"


async def test_a_second_wish_takes_the_place_of_one_that_waits(place: Path) -> None:
    async with driven(place, None, model="demo", sandbox="workspace") as driver:
        driver.send(commands.SetSandbox("off"))
        await driver.until(events.PermissionAsked)
        driver.send(commands.SetSandbox("strict"))
        assert (await driver.until(events.SandboxChanged)).profile == "strict"
        assert driver.of(events.PermissionAnswered)[-1].answer.decision == "deny"


async def test_where_nobody_can_be_asked_nothing_is_loosened(place: Path) -> None:
    async with driven(place, None, model="demo", sandbox="workspace", interactive=False) as driver:
        driver.send(commands.SetSandbox("devbox"))
        notice = await driver.until(events.Notice, lambda notice: notice.level == "error")
        assert "nobody can be asked" in notice.text and "--sandbox devbox" in notice.text
        driver.send(commands.SetSandbox("strict"))
        assert (await driver.until(events.SandboxChanged)).profile == "strict"


async def test_an_unknown_profile_changes_nothing_and_names_those_there_are(place: Path) -> None:
    async with driven(place, None, model="demo", sandbox="workspace") as driver:
        driver.send(commands.SetSandbox("workspce"))
        notice = await driver.until(events.Notice, lambda notice: notice.level == "error")
        assert "did you mean workspace?" in notice.text
        assert driver.wired.sandbox.profile == "workspace"


async def test_the_model_hears_of_a_change_once(place: Path) -> None:
    with ModelServer([reply("ok"), reply("ok")]) as server:
        async with driven(place, server, sandbox="workspace") as driver:
            await driver.ask("hello")
            driver.send(commands.SetSandbox("read-only"))
            await driver.until(events.SandboxChanged)
            await driver.ask("and now?")
            told = [text for text in reminders(driver) if "sandbox" in text]
    assert len(told) == 1
    assert told[0].startswith("The user set the sandbox profile to read-only. Commands and file tools can read")
    assert told[0].endswith("The network is blocked.")


async def test_the_profile_is_kept_with_the_session_and_taken_up_again(place: Path) -> None:
    with ModelServer([reply("ok")]) as server:
        async with driven(place, server, sandbox="workspace") as driver:
            await driver.ask("hello")
            driver.send(commands.SetSandbox("strict"))
            await driver.until(events.SandboxChanged)
        assert profile_kept(driver) == "strict"
        async with driven(place, server, continue_last=True) as again:
            assert again.wired.sandbox.profile == "strict"
            assert (await again.until(events.SessionStarted)).sandbox.startswith("strict")
        async with driven(place, server, continue_last=True, sandbox="read-only") as third:
            assert third.wired.sandbox.profile == "read-only"
        assert profile_kept(third) == "read-only"


async def test_another_folder_is_protected_and_opened_from_the_next_command_on(place: Path) -> None:
    write = f"echo x >{place}/work/no; echo x >{place}/other/yes"
    with ModelServer([run("true"), reply("ok"), run(write), reply("ok")]) as server:
        async with driven(place, server, sandbox="workspace", interactive=False) as driver:
            await driver.ask("go")
            driver.send(commands.ChangeDirectory(str(place / "other")))
            await driver.until(events.DirectoryChanged)
            told = [
                (await driver.until(events.Notice, lambda notice: notice.code == "sandbox")).text
                for _ in range(2)
            ]
            assert (
                told[0].startswith("Commands and file tools can now write in")
                and str(place / "other") in told[0]
            )
            assert "no longer write in" in told[1] and str(place / "work") in told[1]
            driver.prompt("write")
            await driver.until(events.TurnEnded)
    assert (place / "other/yes").exists()
    assert not (place / "work/no").exists()


PROJECT = '[profiles.build]\nextends = "workspace"\nwrite = ["{}"]\n'


async def test_a_projects_profile_that_grants_more_needs_one_yes_and_again_when_it_changes(place: Path) -> None:
    folder = place / "work/.grokmini"
    folder.mkdir()
    (folder / "sandbox.toml").write_text(PROJECT.format(place / "agreed"))
    with pytest.raises(SandboxError, match="grants more than workspace"):
        async with driven(place, None, model="demo", sandbox="build"):
            pass
    async with driven(place, None, model="demo", sandbox="off") as driver:
        driver.send(commands.SetSandbox("build"))
        asked = await driver.until(events.PermissionAsked)
        assert any("project" in detail for detail in asked.details)
        driver.send(commands.AnswerPermission(asked.request_id, YES))
        assert (await driver.until(events.SandboxChanged)).profile == "build"
    async with driven(place, None, model="demo", sandbox="build") as driver:
        assert driver.wired.sandbox.profile == "build"
    (folder / "sandbox.toml").write_text(PROJECT.format(place / "not-agreed"))
    with pytest.raises(SandboxError, match="grants more than workspace"):
        async with driven(place, None, model="demo", sandbox="build"):
            pass
    assert not (place / "not-agreed").exists()


async def test_a_projects_profile_that_was_changed_since_is_told_when_the_session_goes_on(place: Path) -> None:
    def is_told(driver: Driver) -> bool:
        return any("is not what it was" in notice.text for notice in driver.of(events.Notice))

    folder = place / "work/.grokmini"
    folder.mkdir()
    profiles = folder / "sandbox.toml"
    profiles.write_text('[profiles.build]\nextends = "strict"\n')
    with ModelServer([reply("ok")] * 4) as server:
        async with driven(place, server, sandbox="build") as driver:
            await driver.ask("hello")
        async with driven(place, server, continue_last=True) as driver:
            await driver.ask("hello")
            assert not is_told(driver)
        profiles.write_text('[profiles.build]\nextends = "workspace"\n')
        async with driven(place, server, continue_last=True) as driver:
            await driver.ask("hello")
            assert is_told(driver)
        async with driven(place, server, continue_last=True) as driver:
            await driver.ask("hello")
            assert not is_told(driver)


NO_LAYER = Mechanisms(0, False, None, False, {"landlock": "none", "bubblewrap": "bwrap is not installed"})


async def test_without_any_layer_a_named_profile_refuses_to_start(place: Path) -> None:
    with pytest.raises(SandboxError, match="neither Landlock nor bubblewrap") as raised:
        async with driven(place, None, model="demo", sandbox="workspace", mechanisms=NO_LAYER):
            pass
    assert "apt install bubblewrap" in raised.value.hint


async def test_without_any_layer_it_is_said_once_that_nothing_confines(place: Path) -> None:
    options = {"sandbox": "workspace", "sandbox_best_effort": True, "mechanisms": NO_LAYER, "model": "demo"}
    async with driven(place, None, **options) as driver:
        runner = driver.wired.sandbox.runner
        assert runner.policy is not None
        assert (runner.enforcement.label, runner.enforcement.confined) == ("none", False)
        assert (await driver.until(events.SessionStarted)).sandbox == "none"
        notice = await driver.until(events.Notice, lambda notice: notice.code == "sandbox")
        assert "Nothing confines commands here, so each command and each edit asks." in notice.text
        assert "`--sandbox off`" in notice.text and "apt install bubblewrap" in notice.text
        rows = dict(await driver.wired.sandbox.report())
        assert rows["enforced"] == "nothing here: each command and each edit asks"
        await runner.prepare()
    assert [notice.code for notice in driver.of(events.Notice)].count("sandbox") == 1


def read_file(path: Path) -> Reply:
    return reply(calls=[call("read_file", target_file=str(path))])


KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nabcdef\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize("named", ["workspace", ""])
async def test_a_key_that_comes_to_be_later_is_refused_to_the_file_tools_before_any_command(
    place: Path, named: str
) -> None:
    key = place / "home/.ssh/later"
    key.parent.mkdir()
    (place / "work/a").write_text("harmless")
    script = [read_file(place / "work/a"), reply("ok"), read_file(key), reply("ok")]
    options = {"sandbox": named} if named else {}
    with ModelServer(script) as server:
        async with driven(place, server, **options) as driver:
            await driver.ask("read the file")
            assert "harmless" in output_of(driver)
            key.write_text(KEY)
            await driver.ask("read the key")
            assert "abcdef" not in output_of(driver)
            assert f"{key} is denied" in output_of(driver)
