"""A time-out of the terminal tool ends the whole tree, in every profile, with and without bubblewrap."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from tests.sandbox.attacks.agent import DAEMONS, ended_all, marked
from tests.sandbox.places import machines
from tests.sandbox.resolved import around_of, resolved
from tests.tools.room import room

TIMEOUTS = (500, 4_000, 20_000)
"""Milliseconds: the next where the machine is so busy that the command had not begun by then."""


async def left_after_a_timeout(root: Path, policy: Policy | None, mechanisms: Mechanisms | None) -> list[int]:
    """The processes that a command leaves which ignores being asked to end and has another session."""
    marker, up = f"{35_000_000 + os.getpid()}", root / "scratch-up"
    if policy is not None:
        up = Path(policy.scratch) / "up"
    script = DAEMONS["l06"].format(marker, "", up)
    async with room(root / "work", policy=policy, mechanisms=mechanisms) as made:
        for milliseconds in TIMEOUTS:
            text = await made.call("run_terminal_command", command=script, timeout=milliseconds)
            assert text.startswith("exit: killed (timeout)")
            if up.exists():
                break
        assert up.exists()
        return marked(marker)


@pytest.mark.parametrize("profile", ["workspace", "read-only", "strict", "devbox"])
@pytest.mark.parametrize("machine", machines().values(), ids=machines().keys())
async def test_nothing_of_a_command_outlives_its_time_out(
    tmp_path: Path, machine: Mechanisms, profile: str
) -> None:
    policy = resolved(around_of(tmp_path), profile)
    assert await left_after_a_timeout(tmp_path, policy, machine) == []


async def test_nothing_of_a_command_outlives_its_time_out_without_a_sandbox(tmp_path: Path) -> None:
    around_of(tmp_path)
    assert await left_after_a_timeout(tmp_path, None, None) == []


def test_a_time_out_that_ends_the_group_of_the_command_alone_leaves_processes(tmp_path: Path) -> None:
    marker, up = f"{36_000_000 + os.getpid()}", tmp_path / "up"
    os.mkfifo(up)
    script = DAEMONS["l06"].format(marker, "", up)
    process = subprocess.Popen(("/bin/sh", "-c", script), stdin=subprocess.DEVNULL, start_new_session=True)
    assert up.read_text() == "up\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert ended_all(marker)
