"""What bubblewrap mounted is what it was to mount: a path can lead elsewhere at the moment it looks.

Another session's command may exchange a folder in /tmp and a link while the mounts are made, and put it back before
anybody looks again. A bubblewrap that takes another folder for one of them stands for that moment here.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms, probe
from tests.sandbox.places import not_temporary, running, said

_SWAPS = """#!/bin/sh
for word do
  shift
  case $how:$word in --bind:{path}|--ro-bind:{path}) word={instead};; esac
  how=$word
  set -- "$@" "$word"
done
exec {bwrap} "$@"
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that no profile lets commands write, with a `victim` in it that looks like the one above the project."""
    with not_temporary() as folder:
        (folder / "victim/proj").mkdir(parents=True)
        yield folder


def exchanging(home: Path, path: Path, instead: Path) -> Mechanisms:
    """This machine, with a bubblewrap that finds another folder at a path when it looks for what to mount."""
    has = probe()
    assert has.bwrap
    program = home / "bwrap"
    words = {"path": path, "instead": instead, "bwrap": has.bwrap}
    program.write_text(_SWAPS.format(**{name: shlex.quote(str(word)) for name, word in words.items()}))
    program.chmod(0o755)
    return has._replace(bwrap=str(program))


def project_in(base: Path) -> Policy:
    (base / "above/proj").mkdir(parents=True)
    return Policy("workspace", write_roots=(str(base / "above/proj"),), temp=(str(base),))


@pytest.mark.parametrize("which", ["above", "above/proj"])
async def test_no_command_runs_when_another_folder_was_mounted(tmp_path: Path, home: Path, which: str) -> None:
    policy = project_in(tmp_path)
    victim = home / "victim" if which == "above" else home / "victim/proj"
    async with running(policy, exchanging(home, tmp_path / which, victim)) as runner:
        with pytest.raises(SandboxError, match="replaced while"):
            await said(runner, f"echo x >{tmp_path}/{which}/written", tmp_path)
    assert not list(home.glob("victim/**/written"))


async def test_the_same_mounts_hold_commands_when_nothing_was_exchanged(tmp_path: Path, home: Path) -> None:
    policy = project_in(tmp_path)
    async with running(policy, exchanging(home, tmp_path / "elsewhere", home)) as runner:
        assert (
            await said(runner, "touch proj/written; ls proj; cat proj/written", tmp_path / "above")
            == "written\n"
        )
