"""The person's own `!command`: whatever comes of it is told, and the next one can run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from grokmini.protocol import commands, events
from grokmini.tools.builtin.run_terminal_cmd import RunTerminalCmd
from grokmini.tools.contract import ToolStep
from tests.session.sessions import Driver, session


async def finished(driver: Driver, command: str) -> events.ShellFinished:
    """How the command went."""
    driver.send(commands.RunShell(command))
    return await driver.until(events.ShellFinished)


async def test_a_byte_that_is_no_text_is_replaced_and_the_command_runs(tmp_path: Path) -> None:
    async with session(tmp_path, None, model="demo") as driver:
        ran = await finished(driver, "echo some words and \udcff")
        assert (ran.command, ran.exit_code) == ("echo some words and \ufffd", 0)
        assert ran.output == "some words and \ufffd\n"


def _broken(*_: object) -> AsyncIterator[ToolStep]:
    raise RuntimeError("a fault of ours")


async def test_a_fault_of_ours_is_told_and_the_next_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path, None, model="demo") as driver:
        with monkeypatch.context() as patched:
            patched.setattr(RunTerminalCmd, "execute", _broken)
            ran = await finished(driver, "echo one")
            assert ran.exit_code is None
            assert "RuntimeError" in ran.output and "try again" in ran.output
        assert (await finished(driver, "echo two")).output == "two\n"
