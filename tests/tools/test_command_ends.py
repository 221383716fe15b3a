"""run_terminal_command: whatever goes wrong around a command ends it and is told."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError, ToolError
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.runner import CommandHandle, CommandRunner, CommandSpec, Enforcement
from tests.sandbox.liveness import alive
from tests.sandbox.places import workspace
from tests.tools.room import Room, room
from tests.waiting import SECONDS, until

LASTING = "echo $$ >pid; exec sleep 300"


class LatePolicy:
    """A runner whose policy is known only when `told` is set, or not at all for an `error`."""

    def __init__(self, runner: CommandRunner, error: SandboxError | None = None) -> None:
        self._runner = runner
        self._error = error
        self.asked = threading.Event()
        self.told = threading.Event()

    @property
    def policy(self) -> Policy | None:
        self.asked.set()
        self.told.wait(SECONDS)
        if self._error is not None:
            raise self._error
        return self._runner.policy

    @property
    def enforcement(self) -> Enforcement:
        return self._runner.enforcement

    async def prepare(self) -> Enforcement:
        return await self._runner.prepare()

    async def start(self, spec: CommandSpec) -> CommandHandle:
        return await self._runner.start(spec)

    async def close(self) -> None:
        await self._runner.close()


def begin(made: Room) -> asyncio.Task[str]:
    """A command that writes its number into a pipe and stays."""
    os.mkfifo(made.folder / "pid")
    return asyncio.create_task(made.call("run_terminal_command", command=LASTING))


async def number_in(folder: Path) -> int:
    """What the command wrote."""
    return int(await asyncio.to_thread((folder / "pid").read_text))


async def test_a_call_cancelled_as_its_command_has_just_begun_leaves_nothing(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        made.shell.runner = runner = LatePolicy(made.runner)
        task = begin(made)
        pid = await number_in(tmp_path)
        assert await asyncio.to_thread(runner.asked.wait, SECONDS)
        task.cancel()
        runner.told.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: not alive(pid))


async def test_a_policy_that_cannot_be_worked_out_while_a_command_runs_ends_it(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        trouble = SandboxError("a denied file has 2 names", "Remove one.")
        made.shell.runner = runner = LatePolicy(made.runner, trouble)
        task = begin(made)
        pid = await number_in(tmp_path)
        runner.told.set()
        with pytest.raises(
            ToolError, match=r"just after it began, since a denied file has 2 names\. Remove one\."
        ):
            await task
        await until(lambda: not alive(pid))


async def test_a_command_whose_launcher_died_is_told_as_lost_and_the_next_is_confined_too(
    tmp_path: Path,
) -> None:
    policy = workspace(tmp_path)
    folder = tmp_path / "cwd"
    async with room(folder, policy=policy) as made:
        task = begin(made)
        pid = await asyncio.to_thread((folder / "pid").read_text)
        assert pid.strip().isdigit()
        assert isinstance(made.runner, SandboxedRunner)
        launcher = made.runner.launcher_pid
        assert launcher is not None
        os.kill(launcher, signal.SIGKILL)
        text = await task
        assert text.startswith("exit: killed (lost)\n[")
        assert "not known" in text and "look before you run it again" in text
        again = await made.call("run_terminal_command", command="touch ../outside/x; echo on")
        assert "\non\n" in again and not (tmp_path / "outside/x").exists()
