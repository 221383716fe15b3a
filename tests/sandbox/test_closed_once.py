"""A runner that ends: what it holds is let go of once."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.probe import Mechanisms
from tests.sandbox.liveness import alive
from tests.sandbox.places import machines, shell, workspace
from tests.waiting import until


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("machine", machines().values(), ids=machines().keys())
async def test_a_runner_closed_while_commands_of_two_policies_run_closes_each_launcher_once(
    tmp_path: Path, machine: Mechanisms
) -> None:
    """A descriptor closed twice may be somebody else's by then."""
    policy = dataclasses.replace(workspace(tmp_path), protected=(f"{tmp_path}/cwd/.git/config",))
    policies = [policy]
    (tmp_path / "cwd/.git").mkdir()
    (tmp_path / "cwd/.git/config").touch()
    before = descriptors()
    runner = SandboxedRunner(policy, mechanisms=machine, rescan=lambda: policies[-1])
    launchers = set()
    for _ in range(2):
        await runner.start(shell("sleep 300", tmp_path))
        launchers.add(runner.launcher_pid)
        policies.append(dataclasses.replace(policy, caches=(f"{tmp_path}/outside",)))
    await runner.close()
    assert len(launchers) == 2
    assert descriptors() == before
    await until(lambda: not any(alive(pid) for pid in launchers if pid))
