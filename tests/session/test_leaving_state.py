"""What runs outside of the sandbox has nothing of what ran inside but what the question showed."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from grokmini.protocol import commands, events
from grokmini.protocol.permission import PermissionAnswer
from tests.fakes.model_server import ModelServer, reply
from tests.session.sessions import Driver
from tests.session.test_escalation import ALWAYS, YES, answer, bash, driven, leave_question, place, results

__all__ = ["place"]

EVIL = '#!/bin/sh\necho "evil as $0" >> {out}/evil\n'


def lay_trap(place: Path) -> Path:
    """A program in the working folder that shows itself outside, as anything that may be run."""
    evil = place / "work/bin/touch"
    evil.parent.mkdir()
    evil.write_text(EVIL.format(out=place / "out"))
    evil.chmod(0o755)
    return evil


OPENLY = {
    "PATH": "export PATH={bin}:$PATH",
    "BASH_ENV": "export BASH_ENV={bin}/touch",
    "ENV": "export ENV={bin}/touch",
    "a function": "touch() {{ {bin}/touch; }}; export -f touch",
    "PROMPT_COMMAND": "export PROMPT_COMMAND={bin}/touch",
    "a script's lie": """python3 -c '
import os
for fd in range(3, 300):
    try:
        os.write(fd, b"{work}\\0declare -x BASH_ENV=\\"{bin}/touch\\"\\ndeclare -x PATH=\\"{bin}:/usr/bin:/bin\\"\\n")
    except OSError:
        pass
'; kill -9 $$""",
}


@pytest.mark.parametrize("way", list(OPENLY))
async def test_what_a_command_left_behind_does_not_run_outside_with_the_next_yes(place: Path, way: str) -> None:
    evil = lay_trap(place)
    left = OPENLY[way].format(bin=evil.parent, work=place / "work")
    touch = f"touch {place}/out/new"
    with ModelServer(
        [reply(calls=[bash(left)]), reply(calls=[bash(touch)]), reply("done")], strict=True
    ) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            asked = await leave_question(driver)
            assert asked.subject == touch
            answer(driver, asked, YES)
            await driver.until(events.TurnEnded)
    assert sorted(path.name for path in (place / "out").iterdir()) == ["new"]


async def switch_off(driver: Driver) -> None:
    driver.send(commands.SetSandbox("off"))
    answer(driver, await driver.until(events.PermissionAsked), YES)
    await driver.until(events.SandboxChanged)


@pytest.mark.parametrize("way", list(OPENLY))
async def test_what_a_command_left_behind_does_not_run_once_the_sandbox_is_off(place: Path, way: str) -> None:
    evil = lay_trap(place)
    left = OPENLY[way].format(bin=evil.parent, work=place / "work")
    script = [
        reply(calls=[bash(left)]),
        reply("done"),
        reply(calls=[bash(f"touch {place}/out/new")]),
        reply("done"),
        reply(calls=[bash("export A=1")]),
        reply(calls=[bash("echo $A")]),
        reply("done"),
    ]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            await driver.ask("go")
            await switch_off(driver)
            await driver.ask("go on")
            assert sorted(path.name for path in (place / "out").iterdir()) == ["new"]
            await driver.ask("and exports made since still count")
        assert results(driver)[-1].output == "1\n"


async def test_the_persons_own_command_after_a_switch_runs_nothing_that_was_left_behind(place: Path) -> None:
    evil = lay_trap(place)
    left = f"export PATH={evil.parent}:$PATH BASH_ENV={evil}"
    with ModelServer([reply(calls=[bash(left)]), reply("done")], strict=True) as server:
        async with driven(place, server) as driver:
            await driver.ask("go")
            await switch_off(driver)
            driver.send(commands.RunShell(f"touch {place}/out/new"))
            await driver.until(events.ShellFinished)
    assert sorted(path.name for path in (place / "out").iterdir()) == ["new"]


async def test_a_variable_that_the_command_names_goes_along_and_is_shown(place: Path) -> None:
    command = f'echo "[$NAME][$OTHER]" > {place}/out/new'
    script = [
        reply(calls=[bash("export NAME='a b' OTHERS=1")]),
        reply(calls=[bash(command)]),
        reply("done"),
        reply(calls=[bash("export NAME=c")]),
        reply(calls=[bash(command)]),
        reply(calls=[bash(f"env > {place}/out/env")]),
        reply("done"),
    ]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            asked = await leave_question(driver)
            assert [line for line in asked.details if line.startswith("with ")] == ["with NAME=a b"]
            answer(driver, asked, ALWAYS)
            await driver.until(events.TurnEnded)
            assert (place / "out/new").read_text() == "[a b][]\n"
            driver.prompt("another value is another command")
            asked = await leave_question(driver)
            assert [line for line in asked.details if line.startswith("with ")] == ["with NAME=c"]
            answer(driver, asked, YES)
            asked = await leave_question(driver)
            assert [line for line in asked.details if line.startswith("with ")] == []
            answer(driver, asked, YES)
            await driver.until(events.TurnEnded)
    assert not [
        line for line in (place / "out/env").read_text().splitlines() if line.startswith(("NAME", "OTHER"))
    ]


async def test_a_command_that_needs_what_cannot_go_along_is_not_asked_about(place: Path) -> None:
    script = [
        reply(calls=[bash(f"export OUT={place}/out/{'x' * 210}")]),
        reply(calls=[bash('touch "$OUT"')]),
        reply("done"),
    ]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            assert (await driver.ask("go")).outcome == "completed"
            assert driver.of(events.PermissionAsked) == []
        text = results(driver)[1].prompt_text
        assert "the user was not asked to let it run outside of the sandbox: it uses $OUT" in text
        assert "write its value into the command" in text


@asynccontextmanager
async def asked_to_leave(
    place: Path, first: str, stopped: str
) -> AsyncIterator[tuple[Driver, events.PermissionAsked]]:
    """A session that ran one command, and asks whether to run the next one outside."""
    script = [reply(calls=[bash(first)]), reply(calls=[bash(stopped)]), reply("done")]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            yield driver, await leave_question(driver)


async def test_the_folder_of_a_run_outside_is_shown_as_what_it_really_is(place: Path) -> None:
    (place / "work/real").mkdir()
    (place / "work/link").symlink_to("real")
    command = f"pwd > {place}/out/new"
    async with asked_to_leave(place, "cd link", command) as (driver, asked):
        assert f"{os.sep}work/real · sandbox" in asked.details[1]
        answer(driver, asked, YES)
        await driver.until(events.TurnEnded)
    assert (place / "out/new").read_text() == f"{place}/work/real\n"


async def test_a_folder_that_became_a_link_before_the_answer_is_not_entered(place: Path) -> None:
    (place / "work/sub").mkdir()
    command = f"pwd > {place}/out/new"
    async with asked_to_leave(place, "cd sub", command) as (driver, asked):
        (place / "work/sub").rmdir()
        (place / "work/sub").symlink_to(place / "home")
        answer(driver, asked, YES)
        await driver.until(events.TurnEnded)
        assert "became a link meanwhile" in results(driver)[1].prompt_text
    assert not (place / "out/new").exists()


async def test_a_no_leaves_the_exported_state_as_it_was(place: Path) -> None:
    script = [
        reply(calls=[bash("export A=1")]),
        reply(calls=[bash(f"touch {place}/out/new")]),
        reply(calls=[bash("echo $A")]),
        reply("done"),
    ]
    with ModelServer(script, strict=True) as server:
        async with driven(place, server) as driver:
            driver.prompt("go")
            answer(driver, await leave_question(driver), PermissionAnswer("deny", text="no"))
            await driver.until(events.TurnEnded)
        assert results(driver)[-1].output == "1\n"
