"""Programs outside that run what they are told are out of reach, whatever their sockets are called."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.probe import probe
from grokmini.sandbox.sockets import make_multiplexer_folders, sockets_out
from tests.sandbox.places import ENV, running, said
from tests.sandbox.resolved import around_of, resolved, working

TOLD = "told"


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder with a short name: a socket's path has little room.

    While a sandbox of another test is made, bubblewrap may make a place to mount upon where a socket of ours just was.
    """
    folder = Path(tempfile.mkdtemp(prefix="gs-", dir="/var/tmp"))
    yield folder
    while folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def tmux(base: Path, *words: str) -> None:
    env = {**ENV, "TMUX_TMPDIR": str(base)}
    subprocess.run(["tmux", "-f", "/dev/null", *words], env=env, check=True, capture_output=True)


async def test_a_multiplexer_of_any_name_runs_nothing_for_a_command(short: Path) -> None:
    around = around_of(short, {"TMUX_TMPDIR": str(short), "PATH": ENV["PATH"]})
    make_multiplexer_folders(around.env)
    outside = short / "outside"
    attack = f"TMUX_TMPDIR={short} tmux -L other run-shell 'echo x >{outside}'; echo {TOLD}"
    try:
        async with working(around) as runner:
            await said(runner, "true", around.cwd)
            tmux(short, "-L", "other", "new-session", "-d", "sleep 100")
            tmux(short, "-L", "other", "run-shell", f"echo x >{short}/control")
            assert (short / "control").exists()
            assert TOLD in await said(runner, attack, around.cwd)
            own = (
                "tmux -S ./s -f /dev/null new -d -s mine 'sleep 1000'; tmux -S ./s ls; tmux -S ./s kill-server"
            )
            assert "mine: 1 windows" in await said(runner, own, around.cwd)
    finally:
        tmux(short, "-L", "other", "kill-server")
    assert not outside.exists()


async def test_its_folder_is_hidden_from_the_next_command_on_when_it_comes_later(short: Path) -> None:
    around = around_of(short, {"TMUX_TMPDIR": str(short)})
    folder = short / f"tmux-{os.getuid()}"
    async with working(around) as runner:
        await said(runner, "true", around.cwd)
        folder.mkdir()
        (folder / "any").touch()
        assert "any" not in await said(runner, f"ls {folder}", around.cwd)


@pytest.mark.parametrize(
    "name",
    ["ssh-x/agent.1", ".ssh/cm/a@b:22", "vscode-ipc-1.sock", "nvim.me/x/nvim.1.0", "kitty-1", "d/S.gpg-agent.ssh",
     "emacs1000/server", "tmux-7/any", "sway-ipc.0.1.sock", "niri.wayland-1.9.sock", "foot-wayland-1.sock", "foot.sock",
     "wayfire-wayland-1-.socket", "bspwm_0_0-socket", "mpvsocket", "mpv-ipc/1.sock", "qtilesocket.:0",
     "watchman/me-state/sock", "me-state/sock", ".pm2/rpc.sock", ".urxvt/urxvtd-host", "systemd/io.systemd.Manager",
     ".ydotool_socket"],
)  # fmt: skip
async def test_what_is_listened_on_by_such_a_program_is_hidden_wherever_it_lies(short: Path, name: str) -> None:
    path = short / "elsewhere" / name
    path.parent.mkdir(parents=True)
    around = around_of(short)
    with socket.socket(socket.AF_UNIX) as listening:
        async with working(around) as runner:
            await said(runner, "true", around.cwd)
            listening.bind(str(path))
            listening.listen()
            probe = f"import socket; socket.socket(socket.AF_UNIX).connect('{path}'); print('{TOLD}')"
            assert TOLD not in await said(runner, f'python3 -c "{probe}"', around.cwd), runner.enforcement
            assert "on" in await said(runner, "echo on", around.cwd)


async def test_a_socket_that_goes_while_the_sandbox_is_made_does_not_weaken_it(short: Path) -> None:
    gone, program = short / "gone", short / "bwrap"
    gone.touch()
    program.write_text(f'#!/bin/sh\nrm -f {gone}\nexec {shutil.which("bwrap")} "$@"\n')
    program.chmod(0o755)
    policy = replace(resolved(around_of(short)), denied=(str(gone),))
    runner = SandboxedRunner(policy, mechanisms=probe()._replace(bwrap=str(program)))
    try:
        assert (await runner.prepare()).label == "workspace"
        assert "on" in await said(runner, "echo on", short)
    finally:
        await runner.close()


_GOES = """#!{python} -IS
import os, subprocess, sys
at = sys.argv.index("--") + 1
if not os.path.exists("{gone}"):
    subprocess.Popen(["sh", "-c", "until [ -e {up} ]; do sleep 0.01; done; rm -r {folder}; touch {gone}"])
inside = ["sh", "-c", 'touch {up}; until [ -e {gone} ]; do sleep 0.01; done; exec "$@"', "sh"]
os.execv("{bwrap}", ["bwrap", *sys.argv[1:at], *inside, *sys.argv[at:]])
"""
"""Takes a folder away, from outside, once the mounts are made and before what was mounted is looked at."""


async def test_a_folder_that_goes_while_the_sandbox_is_made_keeps_no_command_from_running(short: Path) -> None:
    around = around_of(short)
    work, program = Path(around.cwd), short / "bwrap"
    folder = work / "passing"
    folder.mkdir()
    (folder / "key").touch()
    places = {"up": work / "up", "gone": work / "gone", "folder": folder}
    program.write_text(_GOES.format(python=sys.executable, bwrap=probe().bwrap, **places))
    program.chmod(0o755)
    policy = replace(resolved(around), denied=(str(folder / "key"),))
    async with running(policy, probe()._replace(bwrap=str(program))) as runner:
        assert await said(runner, "echo on; ls", work) == "on\ngone\nup\n"
        assert runner.enforcement.label == "workspace"


def test_the_shared_connection_of_ssh_is_known_by_the_name_it_has_in_the_end(short: Path) -> None:
    first, last = short / "any.0123456789abcdeF", short / "any"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(first))
        listening.listen()
        first.rename(last)
        assert str(last) in tuple(sockets_out(str(short), {}))


def test_looking_for_them_takes_less_than_a_millisecond(short: Path) -> None:
    taken = []
    for _ in range(40):
        begin = time.thread_time()
        tuple(sockets_out(str(short), {}))
        taken.append(time.thread_time() - begin)
    assert min(taken) < 0.001
