"""What another program has come and go in a temporary folder makes no sandbox weaker: nothing runs until it holds."""

from __future__ import annotations

import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.probe import Mechanisms, probe
from tests.sandbox.places import not_temporary, said, workspace

FAILS = """#!/bin/sh
for word do
  case $word in {path}) echo "bwrap: Can't create file at $word: No such file or directory" >&2; exit 1;; esac
done
exec {bwrap} "$@"
"""


def failing_at(base: Path, path: Path) -> Mechanisms:
    """This machine, with a bubblewrap that does not find a path."""
    has = probe()
    assert has.bwrap
    program = base / "bwrap"
    program.write_text(FAILS.format(path=shlex.quote(str(path)), bwrap=shlex.quote(has.bwrap)))
    program.chmod(0o755)
    return has._replace(bwrap=str(program))


@asynccontextmanager
async def without(base: Path, path: Path, *, best_effort: bool = False) -> AsyncIterator[SandboxedRunner]:
    """A runner with that path to be hidden, where it cannot be."""
    path.touch()
    policy = replace(workspace(base), denied=(str(path),))
    runner = SandboxedRunner(policy, mechanisms=failing_at(base, path), best_effort=best_effort)
    try:
        yield runner
    finally:
        await runner.close()


async def test_nothing_runs_where_what_is_to_be_hidden_in_a_temporary_folder_has_just_gone(
    tmp_path: Path,
) -> None:
    (tmp_path / "temp").mkdir()
    async with without(tmp_path, tmp_path / "temp/agent") as runner:
        for _ in range(2):
            with pytest.raises(SandboxError, match=r"changes while the sandbox is set up: .*Can't create file"):
                await said(runner, "touch ran", tmp_path / "cwd")
    assert not (tmp_path / "cwd/ran").exists()


async def test_whoever_wants_it_goes_on_without(tmp_path: Path) -> None:
    (tmp_path / "temp").mkdir()
    async with without(tmp_path, tmp_path / "temp/agent", best_effort=True) as runner:
        assert await said(runner, "echo on", tmp_path / "cwd") == "on\n"
        assert runner.enforcement.label == "workspace, no bubblewrap"


async def test_what_cannot_be_hidden_elsewhere_is_told_as_lost(tmp_path: Path) -> None:
    with not_temporary() as home:
        async with without(tmp_path, home / "key") as runner:
            assert await said(runner, "echo on", tmp_path / "cwd") == "on\n"
            assert f"denied paths: {home}/key can be read" in runner.enforcement.lost


async def test_what_comes_while_the_sandbox_is_made_is_hidden_and_costs_no_layer(tmp_path: Path) -> None:
    late = tmp_path / "temp/agent"
    policy = replace(workspace(tmp_path), denied=(str(late),))
    has = probe()
    assert has.bwrap
    program = tmp_path / "bwrap"
    program.write_text(f'#!/bin/sh\necho secret >{shlex.quote(str(late))}\nexec {has.bwrap} "$@"\n')
    program.chmod(0o755)
    runner = SandboxedRunner(policy, mechanisms=has._replace(bwrap=str(program)))
    try:
        assert (await runner.prepare()).label == "workspace"
        assert "secret" not in await said(runner, f"cat {late}", tmp_path / "cwd")
    finally:
        await runner.close()
    assert late.read_text() == "secret\n"
