"""What a command left behind that is just ending gets the time for it; what sleeps or never ends does not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grokmini.sandbox.launcher import SETTLE_BUSY, Activity
from grokmini.sandbox.runner import CommandSpec
from tests.sandbox.places import ENV, running, workspace

ENDING = """
import os, sys, time
if os.fork():
    os._exit(0)
until = time.monotonic() + float(sys.argv[1])
while time.monotonic() < until:
    pass
open("ended", "w").close()
os._exit(0)
"""
"""Leaves a process behind that is busy for so many seconds and then ends by itself."""


def busy_for(seconds: float, cwd: Path) -> CommandSpec:
    return CommandSpec((sys.executable, "-I", "-S", "-c", ENDING, str(seconds)), cwd, dict(ENV))


async def test_a_process_that_is_busy_ending_is_waited_for_and_not_told_as_left_running(tmp_path: Path) -> None:
    """But for a machine that stands still just then: when it goes on, the time that it may take is over."""
    async with running(workspace(tmp_path)) as runner:
        while True:
            began = time.monotonic()
            status = await (await runner.start(busy_for(0.2, tmp_path / "cwd"))).wait()
            if time.monotonic() - began < SETTLE_BUSY or not status.left_over:
                break
    assert (status.code, status.left_over) == (0, 0)
    assert (tmp_path / "cwd/ended").exists()


async def test_a_process_that_stays_busy_is_ended_all_the_same(tmp_path: Path) -> None:
    async with running(workspace(tmp_path)) as runner:
        status = await (await runner.start(busy_for(60, tmp_path / "cwd"))).wait()
    assert (status.code, status.left_over) == (0, 1)
    assert not (tmp_path / "cwd/ended").exists()


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("words", [["sleep", "60"], ["sh", "-c", "sleep 60; true"]])
def test_what_sleeps_is_not_active_and_what_computes_is_whoever_started_it(words: list[str]) -> None:
    with subprocess.Popen(words) as sleeping:
        activity = Activity()
        while state(sleeping.pid) != "S" or activity.seen([sleeping.pid]):
            time.sleep(0.01)
        assert not activity.seen([sleeping.pid])
        with subprocess.Popen(["sh", "-c", "while :; do :; done & wait"], start_new_session=True) as computing:
            while state(computing.pid) != "S":
                time.sleep(0.01)
            assert activity.seen([computing.pid])
            os.killpg(computing.pid, 9)
        while sleeping.poll() is None:
            subprocess.run(["pkill", "-P", str(sleeping.pid)], check=False)
            sleeping.kill()
