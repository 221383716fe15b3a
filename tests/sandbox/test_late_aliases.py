"""A denied file that a command gives a second name: told and covered as far as it goes, and nobody is locked out."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox import aliases
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.file_guard import FileGuard, FileRefusedError
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.profile import Profile
from grokmini.sandbox.resolve import resolve
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, resolved

DENY = Profile("a", "workspace", deny=("**/*.key",))


@asynccontextmanager
async def session(
    tmp_path: Path, mechanisms: Mechanisms | None = None
) -> AsyncIterator[tuple[SandboxedRunner, Path]]:
    around = around_of(tmp_path)
    runner = SandboxedRunner(
        replace(resolved(around, DENY), explicit=True),
        mechanisms=mechanisms,
        rescan=lambda: replace(resolve(DENY, around, explicit=True), temp=()),
    )
    try:
        yield runner, Path(around.cwd)
    finally:
        await runner.close()


def may_read(runner: SandboxedRunner, path: Path) -> bool:
    fd = os.open(path, os.O_RDONLY)
    try:
        FileGuard(lambda: runner.policy).check_read(fd)
    except FileRefusedError:
        return False
    finally:
        os.close(fd)
    return True


async def test_a_second_name_made_by_a_command_is_masked_too_and_commands_go_on(tmp_path: Path) -> None:
    async with session(tmp_path) as (runner, cwd):
        await said(runner, "mkdir deep; echo s3cr3t >late.key; ln late.key deep/x; echo plain >y", cwd)
        text = await said(runner, "cat late.key deep/x; cat y; mv deep deeper", cwd)
        assert "s3cr3t" not in text and "plain" in text
        assert not any("late.key" in lost for lost in runner.enforcement.lost), "both names are covered"
        (cwd / "deep/x").unlink()  # the person can
        assert "s3cr3t" not in await said(runner, "cat late.key", cwd)
        assert (cwd / "late.key").read_text() == "s3cr3t\n"


async def test_a_second_name_stays_masked_when_the_mounts_have_to_be_made_twice(tmp_path: Path) -> None:
    program, once = tmp_path / "bwrap", tmp_path / "once"
    program.write_text(f'#!/bin/sh\nrm {once} {tmp_path}/work/gone.key && exit 1\nexec {probe().bwrap} "$@"\n')
    program.chmod(0o755)
    async with session(tmp_path, probe()._replace(bwrap=str(program))) as (runner, cwd):
        await said(runner, "echo s3cr3t >late.key; ln late.key x; echo gone >gone.key", cwd)
        once.touch()
        text = await said(runner, "cat late.key x; echo on", cwd)
        assert not (cwd / "gone.key").exists() and "on\n" in text
        assert "s3cr3t" not in text


async def test_the_file_tools_know_a_second_name_before_the_next_command(tmp_path: Path) -> None:
    async with session(tmp_path) as (runner, cwd):
        await said(runner, "echo plain >y; ln y z; echo s3cr3t >late.key; ln late.key x", cwd)
        assert not may_read(runner, cwd / "x") and not may_read(runner, cwd / "late.key")
        assert may_read(runner, cwd / "y")
        (cwd / "z.key").hardlink_to(cwd / "z")
        assert not may_read(runner, cwd / "y"), "what changed since the last look is looked at again"


async def test_a_second_name_that_is_not_found_is_told_and_denied_to_the_file_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aliases, "MOST", 0)
    async with session(tmp_path) as (runner, cwd):
        await said(runner, "echo s3cr3t >late.key; ln late.key x", cwd)
        await said(runner, "true", cwd)
        assert [lost for lost in runner.enforcement.lost if "late.key has 2 names" in lost]
        assert not may_read(runner, cwd / "x")
        await said(runner, "rm x", cwd)
        await said(runner, "true", cwd)
        assert not any("late.key" in lost for lost in runner.enforcement.lost)


async def test_a_session_does_not_start_with_a_denied_file_that_has_a_second_name(tmp_path: Path) -> None:
    cwd = Path(around_of(tmp_path).cwd)
    (cwd / "old.key").write_text("s3cr3t")
    (cwd / "x").hardlink_to(cwd / "old.key")
    async with session(tmp_path) as (runner, _):
        with pytest.raises(SandboxError, match="2 names"):
            await said(runner, "true", cwd)
