"""Trouble of the machine while the sandbox is proved or changed: it is told, and the session goes on."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from grokmini.cli.session_sandbox import SessionSandbox
from grokmini.protocol import commands, events
from tests.session.sessions import Driver, session


async def _no_descriptor(*_: object) -> None:
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


async def told(driver: Driver) -> str:
    """The next error that a person hears of the sandbox."""
    notice = await driver.until(events.Notice, lambda one: (one.level, one.code) == ("error", "sandbox"))
    return notice.text


async def test_a_change_that_the_machine_refuses_is_told_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with session(tmp_path, None, model="demo", sandbox="workspace") as driver:
        with monkeypatch.context() as patched:
            patched.setattr(SessionSandbox, "switch", _no_descriptor)
            driver.send(commands.SetSandbox("strict"))
            text = await told(driver)
        assert text.startswith("The sandbox stays workspace: ") and "Too many open files" in text
        driver.send(commands.SetSandbox("strict"))
        assert (await driver.until(events.SandboxChanged)).profile == "strict"


async def test_a_proof_that_the_machine_refuses_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionSandbox, "prove", _no_descriptor)
    async with session(tmp_path, None, model="demo") as driver:
        text = await told(driver)
    assert text.startswith("No command can run in the sandbox workspace: ") and "Too many open files" in text
