"""The limits of a command, as it sees them itself."""

from __future__ import annotations

import os
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grokmini.sandbox.launch import PYTHON
from grokmini.sandbox.limits import (
    LEAST_MEMORY,
    MOST_MEMORY,
    OOM_SCORE,
    counts_by_namespace,
    limits_of,
    lowered,
    machine_limits,
    threads_of_user,
)
from grokmini.sandbox.policy import Limits
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.runner import CommandRunner, CommandSpec
from grokmini.sandbox.unconfined import UnconfinedRunner
from tests.sandbox.places import machines, read, running, workspace

NAMES = ("RLIMIT_CORE", "RLIMIT_NPROC", "RLIMIT_FSIZE", "RLIMIT_DATA")
ASK = f"""
import resource, sys, time
until = time.monotonic() + float(sys.argv[1])
print({{name: resource.getrlimit(getattr(resource, name)) for name in {NAMES}}})
while (score := int(open('/proc/self/oom_score_adj').read())) != {OOM_SCORE} and time.monotonic() < until:
    time.sleep(0.01)
print(score)
"""


async def limits_in(
    runner: CommandRunner, cwd: Path, patience: float = 0.0
) -> tuple[dict[str, tuple[int, int]], int]:
    """What a command says of its limits and of how soon the kernel would end it, which may take some seconds to come
    from outside.
    """
    handle = await runner.start(CommandSpec((PYTHON, "-I", "-S", "-c", ASK, str(patience)), cwd, {}))
    limits, score = (await read(handle)).decode().split("\n")[:2]
    found: dict[str, Any] = eval(limits)
    return found, int(score)


@pytest.mark.parametrize("machine", machines().values(), ids=machines().keys())
async def test_a_command_has_the_limits_of_its_policy(tmp_path: Path, machine: Mechanisms) -> None:
    policy = replace(workspace(tmp_path), limits=Limits(nproc=900, fsize=10**9, data=10**10))
    async with running(policy, machine) as runner:
        limits, score = await limits_in(runner, tmp_path)
    assert limits["RLIMIT_CORE"] == (0, 0)
    soft, hard = limits["RLIMIT_NPROC"]
    assert soft == hard
    assert soft == 900 if machine.bwrap else soft > 900
    assert limits["RLIMIT_FSIZE"] == (10**9, resource.getrlimit(resource.RLIMIT_FSIZE)[1])
    assert limits["RLIMIT_DATA"] == (10**10, resource.getrlimit(resource.RLIMIT_DATA)[1])
    assert score == OOM_SCORE


async def test_a_command_without_a_sandbox_has_limits_too(tmp_path: Path) -> None:
    before = [resource.getrlimit(getattr(resource, name)) for name in NAMES]
    runner = UnconfinedRunner()
    try:
        limits, score = await limits_in(runner, tmp_path, patience=20.0)
    finally:
        await runner.close()
    assert limits["RLIMIT_CORE"][0] == 0
    assert 0 < limits["RLIMIT_NPROC"][0] < 100_000
    assert (limits["RLIMIT_FSIZE"][0], limits["RLIMIT_DATA"][0]) == (
        machine_limits().fsize,
        machine_limits().data,
    )
    assert score == OOM_SCORE
    assert [resource.getrlimit(getattr(resource, name)) for name in NAMES] == before, "our own are as they were"


def test_the_memory_of_one_process_is_half_of_the_machines_within_reason() -> None:
    data = machine_limits().data
    assert data is not None
    assert LEAST_MEMORY <= data <= MOST_MEMORY < 16 * 1024**3


def test_processes_are_counted_with_those_that_run_already_where_the_kernel_does_so() -> None:
    def processes(*, alone: bool) -> int:
        return {what: value for what, value, _ in limits_of(Limits(nproc=10), alone=alone)}[
            resource.RLIMIT_NPROC
        ]

    assert processes(alone=True) == 10
    assert processes(alone=False) > 10
    assert threads_of_user() >= 1


@pytest.mark.parametrize(
    ("release", "alone"),
    [("6.18.44-x", True), ("5.14.0", True), ("5.10.0-32-amd64", False), ("4.18.0", False), ("10.1", True)],
)
def test_a_kernel_that_counts_by_namespace_is_known_by_its_number(release: str, alone: bool) -> None:
    assert counts_by_namespace(release) is alone


def test_limits_of_our_own_come_back_also_after_an_error() -> None:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    with pytest.raises(KeyError), lowered(((resource.RLIMIT_CORE, 0, True),)):
        assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
        raise KeyError
    assert resource.getrlimit(resource.RLIMIT_CORE) == before


async def test_as_root_the_notice_says_that_processes_are_not_bounded(tmp_path: Path) -> None:
    async with running(workspace(tmp_path)) as runner:
        lost = (await runner.prepare()).lost
    assert any("no limit for root" in text for text in lost) is (os.getuid() == 0)


async def test_a_command_that_needs_more_memory_may_raise_its_limit(tmp_path: Path) -> None:
    """As a program with an address sanitizer does, which maps a part of the whole address space."""
    policy = replace(workspace(tmp_path), limits=Limits(data=10**9))
    async with running(policy, probe()) as runner:
        script = "ulimit -Sd unlimited && ulimit -Sd; ulimit -c; ulimit -c unlimited || echo no"
        handle = await runner.start(CommandSpec(("bash", "-c", script), tmp_path, {"PATH": os.environ["PATH"]}))
        text = (await read(handle)).decode()
    assert text.startswith("unlimited\n0\n")
    assert text.endswith("no\n")


def test_the_profile_off_has_limits() -> None:
    from grokmini.sandbox.profile import built_in
    from grokmini.sandbox.resolve import Around, resolve

    for name in ("off", "workspace", "devbox"):
        policy = resolve(built_in(name), Around("/", "/nowhere", {}), explicit=False)
        assert policy.limits == machine_limits()
