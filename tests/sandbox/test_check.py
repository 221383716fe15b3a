"""`grokmini sandbox check`: each way out is tried, closed inside the sandbox and open without one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grokmini.sandbox.check import attempts, check
from grokmini.sandbox.environment import neutral_environment
from grokmini.sandbox.runner import CommandRunner
from grokmini.sandbox.unconfined import UnconfinedRunner
from tests.e2e.program import Place
from tests.sandbox.places import running
from tests.sandbox.resolved import around_of, resolved

HYGIENE = {"write on your terminal"}
NEEDS_ROOT = {"a raw socket", "change the system's settings", "make a device"}
MAY_BE_REFUSED = {"a namespace of its own", "io_uring"}


async def outcomes(runner: CommandRunner, root: Path, profile: str) -> dict[str, bool]:
    around = around_of(root)
    (root / "home/.netrc").write_text("machine a password b")
    policy = resolved(around, profile)
    tries = attempts(policy, str(root / "home"), os.getpid(), sys.executable)
    env = neutral_environment(os.environ)
    return {outcome.name: outcome.stopped async for outcome in check(runner, tries, root, env)}


@pytest.mark.parametrize("profile", ["workspace", "strict"])
async def test_inside_every_attempt_is_stopped_and_without_a_sandbox_it_succeeds(
    tmp_path: Path, profile: str
) -> None:
    around = around_of(tmp_path)
    (tmp_path / "home/.netrc").write_text("machine a password b")
    async with running(resolved(around, profile)) as runner:
        inside = await outcomes(runner, tmp_path, profile)
    assert [name for name, stopped in inside.items() if not stopped] == []
    bare = UnconfinedRunner()
    try:
        outside = await outcomes(bare, tmp_path, profile)
    finally:
        await bare.close()
    cannot = HYGIENE | MAY_BE_REFUSED | (NEEDS_ROOT if os.getuid() else set())
    assert {name for name, stopped in outside.items() if stopped} - cannot == set()
    assert outside.keys() == inside.keys()
    assert len(inside) > 15
    assert not list(tmp_path.rglob(".grokmini-check*"))


def test_the_program_prints_the_table_for_this_machine(tmp_path: Path, fresh_home: Path) -> None:
    (tmp_path / "project").mkdir()
    done = Place(fresh_home, tmp_path / "project").run("sandbox", "check", "--profile", "strict")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert lines[0] == "profile strict"
    assert len([line for line in lines if line.startswith("stopped  ")]) > 12
    assert "OPEN" not in done.stdout
