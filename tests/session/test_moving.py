"""/cd: another project's rules count, the former's do not, and what was exported stays behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from grokmini.cli.repl_sessions import Sessions
from grokmini.protocol import commands, events
from tests.fakes.model_server import ModelServer, Reply, call, reply
from tests.session.sessions import Driver, session


def run(command: str) -> Reply:
    return reply(calls=[call("run_terminal_command", command=command)])


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    """Two projects, each a repository that denies a command of its own."""
    for name in ("one", "two"):
        (tmp_path / name / ".git").mkdir(parents=True)
        (tmp_path / name / ".grokmini").mkdir()
        settings = f'[permission]\ndeny = ["Bash(echo {name})"]\n'
        (tmp_path / name / ".grokmini/config.toml").write_text(settings)
    return tmp_path / "one", tmp_path / "two"


async def go(driver: Driver, path: Path) -> events.DirectoryChanged:
    driver.send(commands.ChangeDirectory(str(path)))
    return await driver.until(events.DirectoryChanged)


def outputs(driver: Driver) -> list[str]:
    return [finished.output.strip() for finished in driver.of(events.ToolFinished)]


async def test_the_rules_of_the_project_gone_to_count_and_those_of_the_one_left_do_not(
    places: tuple[Path, Path],
) -> None:
    one, two = places
    both = [run("echo one"), run("echo two"), reply("ok")]
    with ModelServer(both * 2) as server:
        async with session(one, server, mode="always-approve") as driver:
            await driver.ask("say both")
            before = outputs(driver)
            await go(driver, two)
            await driver.ask("say both")
            after = outputs(driver)[2:]
    assert "Bash(echo one) denies" in before[0] and before[1] == "two"
    assert after[0] == "one" and "Bash(echo two) denies" in after[1]
    told = [notice.text for notice in driver.of(events.Notice) if notice.code == "rules"]
    assert told == ["From now on: deny Bash(echo two). No longer: deny Bash(echo one)."]


async def test_within_a_project_nothing_is_said_of_rules_that_stay(places: tuple[Path, Path]) -> None:
    one, _ = places
    (one / "sub").mkdir()
    with ModelServer([run("echo one"), reply("ok")]) as server:
        async with session(one, server, mode="always-approve") as driver:
            await go(driver, one / "sub")
            await driver.ask("say it")
    assert "Bash(echo one) denies" in outputs(driver)[0]
    assert not [notice for notice in driver.of(events.Notice) if notice.code in ("rules", "exports")]


async def test_a_project_whose_settings_cannot_be_read_is_not_gone_to(places: tuple[Path, Path]) -> None:
    one, two = places
    (two / ".grokmini/config.toml").write_text("[permission\n")
    with ModelServer([run("echo one; pwd"), reply("ok")]) as server:
        async with session(one, server, mode="always-approve") as driver:
            driver.send(commands.ChangeDirectory(str(two)))
            notice = await driver.until(events.Notice, lambda notice: notice.code == "directory")
            await driver.ask("say it")
    assert f"Still in {one}" in notice.text and "config.toml, line 1" in notice.text
    assert "Bash(echo one) denies" in outputs(driver)[0]


async def test_what_a_project_may_not_set_is_said_when_it_is_gone_to(places: tuple[Path, Path]) -> None:
    one, two = places
    (two / ".grokmini/config.toml").write_text('[permission]\nallow = ["Bash"]\n')
    with ModelServer() as server:
        async with session(one, server) as driver:
            await go(driver, two)
            notice = await driver.until(events.Notice, lambda notice: notice.code == "settings")
    assert "permission.allow is ignored" in notice.text


async def test_the_instructions_of_the_project_gone_to_reach_the_model_and_no_others_after_them(
    places: tuple[Path, Path],
) -> None:
    one, two = places
    (one / "AGENTS.md").write_text("be one")
    with ModelServer([reply("ok"), reply("ok"), reply("ok")], strict=True) as server:
        async with session(one, server) as driver:
            await driver.ask("first")
            (two / "AGENTS.md").write_text("be two")
            await go(driver, two)
            await driver.ask("second")
            (two / "AGENTS.md").unlink()
            await driver.ask("third")
    told = [
        [
            text
            for text in map(_content, body["messages"])
            if text.startswith(("Instructions from", "The instruction"))
        ]
        for body in server.bodies
    ]
    assert "be one" in told[0][-1]
    assert "be two" in told[1][-1] and "be one" not in told[1][-1]
    assert "no longer count" in told[2][-1]


def _content(message: dict[str, str]) -> str:
    return message["content"] if message["role"] == "user" else ""


async def test_what_commands_exported_stays_behind_in_the_project_that_is_left(
    places: tuple[Path, Path],
) -> None:
    one, two = places
    (one / "sub").mkdir()
    show = 'echo "[$MARK]"'
    script = [run("export MARK=of-one"), reply("ok"), run(show), reply("ok"), run(show), reply("ok")]
    with ModelServer(script, strict=True) as server:
        async with session(one, server, mode="always-approve") as driver:
            await driver.ask("export")
            await go(driver, one / "sub")
            await driver.ask("show")
            await go(driver, two)
            notice = await driver.until(events.Notice, lambda notice: notice.code == "exports")
            await driver.ask("show")
        told = [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "user"]
    assert outputs(driver)[1:] == ["[of-one]", "[]"]
    assert "MARK" in notice.text
    assert any(str(two) in text and "MARK" in text and "as at the start" in text for text in told)


async def test_a_command_that_began_before_changes_nothing_of_where_the_next_one_starts(
    places: tuple[Path, Path], tmp_path: Path
) -> None:
    one, two = places
    (one / "sub").mkdir()
    wait = f"export MARK=late; cd sub; : >{one}/begun; until [ -e {one}/go ]; do sleep 0.02; done"
    with ModelServer([run('pwd; echo "[$MARK]"'), reply("ok")]) as server:
        async with session(one, server, mode="always-approve") as driver:
            driver.send(commands.RunShell(wait))
            while not (one / "begun").exists():
                await asyncio.sleep(0.01)
            await go(driver, two)
            (one / "go").touch()
            await driver.until(events.ShellFinished)
            await driver.ask("where?")
    assert outputs(driver)[0].split() == [str(two), "[]"]


async def test_a_new_session_after_it_has_the_rules_of_the_folder_it_is_in(places: tuple[Path, Path]) -> None:
    one, two = places
    with ModelServer([run("echo one"), run("echo two"), reply("ok")]) as server:
        async with session(one, server, mode="always-approve") as driver:
            await go(driver, two)
            opened = await Sessions(driver.wired.root, driver.wired).new()
            opened.handle.send(commands.Prompt("p", "say both"))
            said = []
            async for record in opened.events:
                if isinstance(record.event, events.ToolFinished):
                    said.append(record.event.output.strip())
                if isinstance(record.event, events.TurnEnded):
                    break
            opened.handle.send(commands.Shutdown("test"))
            await opened.handle.closed()
    assert said[0] == "one" and "Bash(echo two) denies" in said[1]
