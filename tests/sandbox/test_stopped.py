"""Processes of ours that somebody stopped: what they watch over ends with the agent all the same."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

from grokmini.sandbox.probe import probe
from grokmini.sandbox.survivors import descendants
from tests.sandbox.liveness import alive
from tests.sandbox.places import running, said, shell, workspace

ROOT: Final = Path(__file__).resolve().parents[2]
WAIT: Final = 30.0
COMMAND: Final = "trap '' TERM HUP; (setsid sleep 300 &); echo go; sleep 300"
_AGENT: Final = f"""
import asyncio, os, sys
from pathlib import Path
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.policy import Policy
from tests.sandbox.places import machines, shell, workspace

async def main():
    policy = Policy("off", write_all=True) if sys.argv[2] == "off" else workspace(Path(sys.argv[1]))
    runner = SandboxedRunner(policy, mechanisms=machines().get(sys.argv[2]))
    handle = await runner.start(shell({COMMAND!r}, sys.argv[1]))
    async for chunk in handle.output():
        os.write(1, chunk)

asyncio.run(main())
"""


@contextmanager
def agent(tmp_path: Path, machine: str) -> Iterator[subprocess.Popen[bytes]]:
    """An agent whose command runs, with a process that it left to itself."""
    process = subprocess.Popen(
        [sys.executable, "-c", _AGENT, str(tmp_path), machine], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    found: set[int] = set()
    try:
        assert process.stdout.readline() == b"go\n"
        found = descendants(process.pid)
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        for pid in filter(alive, found):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def words_of(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")


def stat_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def state_of(pid: int) -> str:
    return stat_of(pid)[0]


def parent_of(pid: int) -> int:
    return int(stat_of(pid)[1])


def of_launcher(pids: set[int]) -> list[int]:
    """The launcher, then its supervisors and what waits to be a command."""
    words = {pid: words_of(pid) for pid in pids}
    ours = {
        pid
        for pid in pids
        if b"bwrap" not in words[pid][0] and any(b"/launcher.py" in one for one in words[pid])
    }
    (launcher,) = (pid for pid in ours if parent_of(pid) not in ours)
    return [launcher, *(ours - {launcher})]


def settled(agent: int) -> tuple[set[int], int, list[int]]:
    """All processes below an agent, its launcher, and the two supervisors with the child that waits."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        found = descendants(agent)
        with suppress(OSError, ValueError):  # one of them has just ended or begun
            launcher, *others = of_launcher(found)
            if len(others) == 3 and all(state_of(pid) == "S" for pid in others):
                return found, launcher, others
        time.sleep(0.01)
    raise AssertionError("there was no spare")


@pytest.mark.parametrize("machine", ["all", "no bubblewrap", "off"])
@pytest.mark.parametrize("who", ["the launcher", "the others", "all of them", "the others of a dead launcher"])
def test_nothing_outlives_the_agent_when_what_watches_was_stopped(
    tmp_path: Path, machine: str, who: str
) -> None:
    with agent(tmp_path, machine) as process:
        found, launcher, others = settled(process.pid)
        for pid in {"the launcher": [launcher], "all of them": [launcher, *others]}.get(who, others):
            os.kill(pid, signal.SIGSTOP)
        if who == "the others of a dead launcher":
            os.kill(launcher, signal.SIGKILL)
        process.kill()
        until = time.monotonic() + WAIT
        while any(map(alive, found)) and time.monotonic() < until:
            time.sleep(0.01)
        assert [pid for pid in found if alive(pid)] == []


@pytest.mark.parametrize(
    "command", ["kill -STOP $PPID", "(while :; do kill -STOP $PPID; done) & kill -STOP $PPID"]
)
async def test_a_command_that_stops_its_own_supervisor_can_be_ended_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Where Landlock does not keep signals from it, bubblewrap alone does not."""
    monkeypatch.setattr("grokmini.sandbox.confined.LOOK_AFTER", 0.2)
    async with running(workspace(tmp_path), probe()._replace(landlock_abi=0)) as runner:
        handle = await runner.start(shell(f"{command} && echo stopped; sleep 300", tmp_path))
        assert await anext(handle.output()) == b"stopped\n"
        await asyncio.wait_for(handle.kill(), WAIT)
        async with asyncio.timeout(WAIT):
            while alive(handle.pid):
                await asyncio.sleep(0.01)
        assert await said(runner, "echo next", tmp_path) == "next\n"
