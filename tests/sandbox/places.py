"""A sandbox to try things in: folders, policies and the machine's mechanisms with some taken away."""

from __future__ import annotations

import os
import pwd
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.runner import CommandHandle, CommandRunner, CommandSpec

ENV = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8"}


def workspace(root: Path) -> Policy:
    """The default profile's policy with `root/cwd` as its folder; makes the folders."""
    for name in ("cwd", "scratch", "temp", "outside"):
        (root / name).mkdir(exist_ok=True)
    return Policy(
        "workspace",
        write_roots=(str(root / "cwd"),),
        scratch=str(root / "scratch"),
        temp=(str(root / "temp"),),
    )


@contextmanager
def not_temporary() -> Iterator[Path]:
    """A folder outside of the temporary ones, in which commands may write whatever the profile."""
    home = pwd.getpwuid(os.getuid()).pw_dir
    with tempfile.TemporaryDirectory(dir=home, prefix=".grokmini-test-") as name:
        yield Path(os.path.realpath(name))


def without_bwrap(reason: str = "bwrap is not installed") -> Mechanisms:
    """This machine as it would be without bubblewrap."""
    return probe()._replace(bwrap=None, bwrap_network=False, reasons={"bubblewrap": reason})


def machines() -> dict[str, Mechanisms]:
    """With all that is there, and without bubblewrap."""
    return {"all": probe(), "no bubblewrap": without_bwrap()}


@asynccontextmanager
async def running(policy: Policy, mechanisms: Mechanisms | None = None) -> AsyncIterator[SandboxedRunner]:
    """A runner that is closed afterwards."""
    runner = SandboxedRunner(policy, mechanisms=mechanisms)
    try:
        yield runner
    finally:
        await runner.close()


def shell(command: str, cwd: Path | str, *, side: bool = False, outside: bool = False) -> CommandSpec:
    """A command for `/bin/sh`."""
    return CommandSpec(("/bin/sh", "-c", command), Path(cwd), dict(ENV), side_channel=side, outside=outside)


async def read(handle: CommandHandle) -> bytes:
    """All output."""
    return b"".join([chunk async for chunk in handle.output()])


async def said(runner: CommandRunner, command: str, cwd: Path | str) -> str:
    """What a command prints."""
    handle = await runner.start(shell(command, cwd))
    text = (await read(handle)).decode()
    await handle.wait()
    return text
