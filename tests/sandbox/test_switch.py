"""One runner for a whole session, with another policy behind it from one command to the next."""

from __future__ import annotations

import asyncio
import dataclasses
import time
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.deferred import DeferredRunner
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import probe
from grokmini.sandbox.runner import Enforcement, unproved
from grokmini.sandbox.switch import SessionRunner, SwitchRunner
from grokmini.sandbox.unconfined import UnconfinedRunner
from tests.sandbox.liveness import alive
from tests.sandbox.places import read, said, shell, without_bwrap, workspace


def read_only(policy: Policy) -> Policy:
    return dataclasses.replace(policy, profile="read-only", write_roots=(), network="blocked")


async def until_gone(pid: int) -> None:
    async with asyncio.timeout(30):
        while alive(pid):
            await asyncio.sleep(0.01)


async def test_what_runs_goes_on_under_its_own_policy_and_the_next_command_under_the_new_one(
    tmp_path: Path,
) -> None:
    policy = workspace(tmp_path)
    former = SandboxedRunner(policy)
    switch = SwitchRunner(former)
    cwd = tmp_path / "cwd"
    running = await switch.start(
        shell("echo up; until [ -e ../temp/go ]; do sleep 0.02; done; echo x >late", cwd)
    )
    output = running.output()
    assert await anext(output) == b"up\n"
    pid = former.launcher_pid
    assert pid is not None
    told = await switch.change_to(SandboxedRunner(read_only(policy)))
    assert told.confined and told.network_blocked and switch.enforcement == told
    assert "cannot create" in await said(switch, "echo x >now", cwd)
    assert alive(pid)
    (tmp_path / "temp/go").touch()
    assert (await running.wait()).code == 0
    assert (cwd / "late").exists() and not (cwd / "now").exists()
    assert "cannot create" in await said(switch, "echo x >now", cwd)
    await until_gone(pid)
    await switch.close()


async def test_a_runner_that_cannot_keep_its_policy_leaves_the_former_one_in_force(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    switch = SwitchRunner(SandboxedRunner(policy))
    before = await switch.prepare()
    denied = dataclasses.replace(policy, denied=(str(tmp_path / "outside"),), explicit=True)
    with pytest.raises(SandboxError, match="denied paths"):
        await switch.change_to(SandboxedRunner(denied, mechanisms=without_bwrap()))
    assert (switch.policy, switch.enforcement) == (policy, before)
    assert await said(switch, "echo x >new; cat new", tmp_path / "cwd") == "x\n"
    await switch.close()


async def test_commands_and_policy_wait_for_a_change_that_is_under_way(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    switch: SwitchRunner[SessionRunner] = SwitchRunner(UnconfinedRunner())
    change = asyncio.create_task(switch.change_to(SandboxedRunner(read_only(policy))))
    await asyncio.sleep(0)
    assert switch.policy == read_only(policy)
    assert "cannot create" in await said(switch, "echo x >new", tmp_path / "cwd")
    await change
    await switch.close()


async def test_a_runner_that_is_replaced_while_it_is_proved_is_closed_after_that(tmp_path: Path) -> None:
    former = SandboxedRunner(workspace(tmp_path))
    switch: SwitchRunner[SessionRunner] = SwitchRunner(former)
    proof = asyncio.create_task(switch.prepare())
    await asyncio.sleep(0)
    await switch.change_to(UnconfinedRunner())
    assert (await proof).confined
    async with asyncio.timeout(30):
        while former.launcher_pid is not None:
            await asyncio.sleep(0.01)
    await switch.close()


async def test_closing_ends_what_runs_in_former_runners_too(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    switch: SwitchRunner[SessionRunner] = SwitchRunner(UnconfinedRunner())
    commands = [await switch.start(shell("echo up; sleep 300", tmp_path / "cwd"))]
    await switch.change_to(SandboxedRunner(policy))
    commands.append(await switch.start(shell("echo up; sleep 300", tmp_path / "cwd")))
    assert [await anext(command.output()) for command in commands] == [b"up\n", b"up\n"]
    await switch.close()
    assert not any(alive(command.pid) for command in commands)
    assert [(await command.wait()).signal for command in commands] == [15, 15]


async def test_everything_that_runs_is_killed_at_once_when_there_is_no_time(tmp_path: Path) -> None:
    switch: SwitchRunner[SessionRunner] = SwitchRunner(UnconfinedRunner())
    old = await switch.start(shell("echo up; trap '' TERM; sleep 300", tmp_path))
    assert await anext(old.output()) == b"up\n"
    await switch.change_to(SandboxedRunner(workspace(tmp_path)))
    new = await switch.start(shell("echo up; trap '' TERM; sleep 300", tmp_path / "cwd"))
    assert await anext(new.output()) == b"up\n"
    switch.kill_now()
    assert (await old.wait()).signal == 9
    assert (await new.wait()).signal == 9
    await switch.close()


async def test_a_deferred_runner_is_made_with_the_first_command_and_claims_nothing_before(
    tmp_path: Path,
) -> None:
    policy = workspace(tmp_path)
    made: list[SandboxedRunner] = []

    def make() -> SandboxedRunner:
        made.append(SandboxedRunner(policy))
        return made[-1]

    runner = DeferredRunner(unproved("workspace"), lambda: policy, make)
    assert runner.policy == policy and runner.idle
    assert runner.enforcement == Enforcement("workspace, untried")
    assert made == []
    texts = await asyncio.gather(*(said(runner, f"echo {n}", tmp_path / "cwd") for n in range(3)))
    assert texts == ["0\n", "1\n", "2\n"]
    assert len(made) == 1
    assert runner.enforcement.confined and runner.enforcement.label == "workspace"
    await runner.close()


async def test_a_deferred_runner_that_was_never_needed_closes_and_starts_nothing_afterwards(
    tmp_path: Path,
) -> None:
    policy = workspace(tmp_path)
    runner = DeferredRunner(unproved("workspace"), lambda: policy, lambda: SandboxedRunner(policy))
    await runner.close()
    with pytest.raises(RuntimeError):
        await runner.start(shell("true", tmp_path))


async def test_a_deferred_runner_takes_another_policy_before_and_after_it_is_made(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    runner = DeferredRunner(unproved("workspace"), lambda: policy, lambda: SandboxedRunner(policy))
    elsewhere = dataclasses.replace(policy, write_roots=(str(tmp_path / "outside"),))
    runner.expect(elsewhere)
    assert runner.policy == elsewhere
    assert "cannot create" in await said(runner, "echo x >new", tmp_path / "cwd")
    runner.expect(policy)
    handle = await runner.start(shell("echo x >new; cat new", tmp_path / "cwd"))
    assert await read(handle) == b"x\n"
    await runner.close()


@pytest.mark.parametrize(("seconds", "expected"), [(0.0, 2), (0.05, 1)])
def test_a_policy_is_worked_out_anew_when_asked_for_unless_that_takes_long_and_has_just_been_done(
    tmp_path: Path, seconds: float, expected: int
) -> None:
    policy, looked = workspace(tmp_path), []

    def resolve() -> Policy:
        until = time.thread_time() + seconds
        while time.thread_time() < until:
            pass
        looked.append(policy)
        return dataclasses.replace(policy, denied=(f"/{len(looked)}",))

    runner = DeferredRunner(unproved("workspace"), resolve, lambda: SandboxedRunner(policy))
    assert [runner.policy, runner.policy] == [dataclasses.replace(policy, denied=("/1",))] * 2
    runner.look_again()
    found = runner.policy
    assert found is not None
    assert (found.denied, len(looked)) == ((f"/{expected}",), expected)


async def test_what_is_found_later_is_denied_to_the_next_command_too(tmp_path: Path) -> None:
    key, policy = tmp_path / "cwd/key", workspace(tmp_path)

    def resolve() -> Policy:
        return dataclasses.replace(policy, denied=(str(key),) if key.exists() else ())

    runner = DeferredRunner(unproved("workspace"), resolve, lambda: SandboxedRunner(policy))
    assert await said(runner, "echo one", tmp_path / "cwd") == "one\n"
    key.write_text("secret")
    runner.look_again()
    assert runner.policy == resolve() != policy
    if probe().bwrap:
        assert "secret" not in await said(runner, "cat key", tmp_path / "cwd")
    await runner.close()
