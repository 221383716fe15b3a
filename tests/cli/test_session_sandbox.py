"""The runner of a session by its profile: what `off` keeps all the same."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from grokmini.cli.options import Options
from grokmini.cli.root import Root, load_root
from grokmini.cli.sandboxed import Choice, choose, confine
from grokmini.cli.session_sandbox import SessionSandbox
from grokmini.protocol.errors import SandboxError
from grokmini.protocol.events import Notice, SessionEvent
from grokmini.sandbox.profile import Profile, built_in
from grokmini.sandbox.runner import CommandRunner, CommandSpec, Enforcement
from tests.sandbox.liveness import alive
from tests.sandbox.places import not_temporary, read, said, shell, without_bwrap
from tests.waiting import until_now

LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="what holds elsewhere is weaker, and told"
)

HIDING = """
import os, sys, time
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 4096)
    with open(sys.argv[1] + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    time.sleep(300)
    os._exit(0)
while not os.path.exists(sys.argv[1]):
    time.sleep(0.005)
if sys.argv[2:]:
    print("up", flush=True)
    time.sleep(300)
"""
"""A process in a session of its own, nobody's child, which holds no descriptor; who started it ends or stays."""


def root_of(folder: Path, profile: str = "off") -> Root:
    env = {"HOME": str(folder), "PATH": os.environ["PATH"]}
    return load_root(Options(cwd=str(folder), sandbox=profile), env)


@asynccontextmanager
async def runner_of(kind: str, folder: Path) -> AsyncIterator[CommandRunner]:
    """What a session's commands go through under `off`, or a single one's."""
    root = root_of(folder)
    choice = choose(root)
    runner = SessionSandbox(root, choice, None).runner if kind == "session" else confine(root, choice).runner
    try:
        yield runner
    finally:
        await runner.close()


def goes(pid: int) -> bool:
    """Whether it goes by itself, long before its own end; it is ended when it does not."""
    try:
        until_now(lambda: not alive(pid))
    except AssertionError:
        os.kill(pid, signal.SIGKILL)
        return False
    return True


@LINUX
@pytest.mark.parametrize("kind", ["session", "single"])
async def test_off_leaves_nothing_of_a_process_that_hides_and_holds_nothing(tmp_path: Path, kind: str) -> None:
    noted = tmp_path / "pid"
    async with runner_of(kind, tmp_path) as runner:
        words = (sys.executable, "-c", HIDING, str(noted))
        handle = await runner.start(CommandSpec(words, tmp_path, {}))
        status = await handle.wait()
        assert await asyncio.to_thread(goes, int(noted.read_text()))
        assert (status.code, status.left_over) == (0, 1)


AGENT = """
import asyncio, sys
from pathlib import Path
from grokmini.sandbox.runner import CommandSpec
from tests.cli.test_session_sandbox import HIDING, runner_of

async def main():
    async with runner_of("session", Path(sys.argv[1])) as runner:
        handle = await runner.start(CommandSpec((sys.executable, "-c", HIDING, sys.argv[2], "stay"), Path("/"), {}))
        async for chunk in handle.output():
            print("up", flush=True)

asyncio.run(main())
"""


@LINUX
def test_off_leaves_nothing_when_the_agent_is_killed(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    words = [sys.executable, "-c", AGENT, str(tmp_path), str(noted)]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"up\n"
        agent.kill()
    assert goes(int(noted.read_text()))


@LINUX
@pytest.mark.parametrize("kind", ["session", "single"])
async def test_off_lets_no_command_ask_for_core_dumps(tmp_path: Path, kind: str) -> None:
    async with runner_of(kind, tmp_path) as runner:
        assert await said(runner, "ulimit -Sc; ulimit -Hc", tmp_path) == "0\n0\n"


async def test_off_confines_nothing_and_claims_nothing(tmp_path: Path) -> None:
    async with runner_of("session", tmp_path) as runner:
        before = runner.enforcement
        assert before == Enforcement("off", lost=("file access is not confined", "the network is open"))
        assert runner.policy is None
        outside = tmp_path.parent / f"{tmp_path.name}-outside"
        assert await said(runner, f"echo x >{outside}; cat {outside}; rm {outside}", tmp_path) == "x\n"
        assert (runner.policy, await runner.prepare(), runner.enforcement) == (None, before, before)


@LINUX
async def test_off_has_one_launcher_for_what_is_let_out_too(tmp_path: Path) -> None:
    async with runner_of("session", tmp_path) as runner:
        found = set()
        for outside in (False, True):
            handle = await runner.start(shell("ps -o ppid= -p $PPID", tmp_path, outside=outside))
            found.add(await read(handle))
        assert len(found) == 1


@LINUX
async def test_off_starts_nothing_before_the_first_command(tmp_path: Path) -> None:
    sandbox = SessionSandbox(root_of(tmp_path), choose(root_of(tmp_path)), None)
    mine = Path(f"/proc/self/task/{os.getpid()}/children")
    before = mine.read_text()
    await sandbox.prove()
    assert mine.read_text() == before
    assert await said(sandbox.runner, "echo ran", tmp_path) == "ran\n"
    assert mine.read_text() != before
    await sandbox.runner.close()


def project(folder: Path, profile: str) -> Path:
    """A project with a sandbox profile of its own."""
    (folder / ".git").mkdir(parents=True)
    (folder / ".grokmini").mkdir()
    text = f'[profiles.{profile}]\nextends = "workspace"\nnetwork = "blocked"\n'
    (folder / ".grokmini/sandbox.toml").write_text(text)
    return folder


def test_in_another_project_its_profiles_can_be_chosen(tmp_path: Path) -> None:
    first, second = project(tmp_path / "first", "one"), project(tmp_path / "second", "two")
    sandbox = SessionSandbox(root_of(first, "workspace"), choose(root_of(first, "workspace")), None)
    assert sandbox.offer("one").profile.name == "one"
    sandbox.move_to(second)
    assert sandbox.offer("two").profile.name == "two"
    with pytest.raises(SandboxError, match="one"):
        sandbox.offer("one")


@LINUX
async def test_a_folder_that_the_profile_cannot_be_kept_in_leaves_everything_as_it_was() -> None:
    with not_temporary() as home:
        for name in ("first", "second/inner/.git", "third"):
            (home / name).mkdir(parents=True)
        (home / "second/inner/.git/HEAD").touch()
        root = load_root(Options(cwd=str(home / "first"), sandbox="workspace"), {"HOME": str(home), "PATH": ""})
        profile = Profile("mine", "workspace", deny=(f"{home}/second",), write=(str(home),))
        sandbox = SessionSandbox(root, Choice(profile, explicit=False), None, without_bwrap())
        sandbox.begin(lambda event: None)
        try:
            before = sandbox.runner.policy
            with pytest.raises(SandboxError, match="what every command needs"):
                sandbox.move_to(home / "second")
            assert sandbox.runner.policy == before
            sandbox.move_to(home / "third")
            now = sandbox.runner.policy
            assert now is not None and not any("/second/inner" in path for path in now.protected)
        finally:
            await sandbox.runner.close()


@LINUX
async def test_a_link_that_commands_left_in_a_former_project_is_not_followed_either() -> None:
    with not_temporary() as home:
        for name in ("first/t", "second", "victim"):
            (home / name).mkdir(parents=True)
        env = {"HOME": str(home), "PATH": os.environ["PATH"], "TMPDIR": str(home / "first/t")}
        root = load_root(Options(cwd=str(home / "first"), sandbox="workspace"), env)
        sandbox = SessionSandbox(root, Choice(built_in("workspace"), explicit=False), None, without_bwrap())
        told: list[SessionEvent] = []
        sandbox.begin(told.append)
        try:
            await said(sandbox.runner, f"rmdir t; ln -s {home}/victim t", home / "first")
            assert (home / "first/t").is_symlink()
            sandbox.move_to(home / "second")
            for _ in range(2):
                await said(sandbox.runner, f"echo x >{home}/first/t/new; echo x >mine", home / "second")
            assert os.listdir(home / "victim") == [] and (home / "second/mine").exists()
            texts = [" ".join(one.text.split()) for one in told if isinstance(one, Notice)]
            assert len([text for text in texts if text.startswith(f"{home}/first/t is left out")]) == 1
        finally:
            await sandbox.runner.close()
