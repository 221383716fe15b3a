"""The sandboxed runner where things go wrong: replaced files, odd names, no descriptors, dead and stopped launchers."""

from __future__ import annotations

import asyncio
import dataclasses
import errno
import itertools
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.launch import LauncherLostError, LauncherProcess, Ready
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.runner import CommandSpec
from tests.sandbox.liveness import alive
from tests.sandbox.places import ENV, machines, read, running, said, shell, workspace
from tests.waiting import until

WAIT = 30.0
ROOT = Path(__file__).resolve().parents[2]

each_machine = pytest.mark.parametrize("machine", machines().values(), ids=machines().keys())


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def test_what_is_protected_or_denied_stays_so_when_somebody_outside_renames_another_file_over_it(
    tmp_path: Path,
) -> None:
    """As `git config` and editors do; a mount does not survive it."""
    cwd = tmp_path / "cwd"
    policy = workspace(tmp_path)
    policy = dataclasses.replace(
        policy, protected=(f"{cwd}/.git/config", f"{cwd}/.git/hooks"), denied=(f"{cwd}/secret", f"{cwd}/keys")
    )
    for folder in (".git/hooks", "keys"):
        (cwd / folder).mkdir(parents=True)
    for name in (".git/config", "secret", "keys/key"):
        (cwd / name).write_text("first\n")
    attack = "echo bad >>.git/config; touch .git/hooks/pre-commit; cat secret; ls keys"
    async with running(policy) as runner:
        assert "first" not in await said(runner, attack, cwd)
        for name in (".git/config", "secret"):
            (tmp_path / "new").write_text("second\n")
            (tmp_path / "new").rename(cwd / name)
        for folder in (".git/hooks", "keys"):
            shutil.rmtree(cwd / folder)
            (cwd / folder).mkdir()
        (cwd / "keys/key").touch()
        told = await said(runner, attack, cwd)
        assert "second" not in told
        assert "key\n" not in told
        assert (cwd / ".git/config").read_text() == "second\n"
        assert list((cwd / ".git/hooks").iterdir()) == []


@each_machine
async def test_a_folder_that_was_made_anew_can_be_worked_in(tmp_path: Path, machine: Mechanisms) -> None:
    cwd = tmp_path / "cwd"
    async with running(workspace(tmp_path), machine) as runner:
        await said(runner, "touch first", cwd)
        shutil.rmtree(cwd)
        with pytest.raises(FileNotFoundError):
            await runner.start(shell("true", cwd))
        cwd.mkdir()
        assert await said(runner, "touch second; ls", cwd) == "second\n"
        assert (cwd / "second").exists()


async def test_a_denied_path_that_was_not_there_is_hidden_once_it_is(tmp_path: Path) -> None:
    policy = dataclasses.replace(workspace(tmp_path), denied=(f"{tmp_path}/outside/later",))
    async with running(policy) as runner:
        assert "No such file" in await said(runner, "cat ../outside/later", tmp_path / "cwd")
        (tmp_path / "outside/later").write_text("key\n")
        assert "key" not in await said(runner, "cat ../outside/later", tmp_path / "cwd")


async def test_a_launcher_is_not_renewed_when_nothing_was_replaced(tmp_path: Path) -> None:
    policy = dataclasses.replace(
        workspace(tmp_path), protected=(f"{tmp_path}/cwd/hooks", f"{tmp_path}/cwd/config")
    )
    (tmp_path / "cwd/hooks").mkdir()
    (tmp_path / "cwd/config").touch()
    async with running(policy) as runner:
        await said(runner, "touch a; rm a; mkdir b; ls -la", tmp_path / "cwd")
        first = runner.launcher_pid
        (tmp_path / "cwd/hooks/made-outside").touch()
        (tmp_path / "cwd/other").touch()
        await said(runner, "cat config; echo >b/c", tmp_path / "cwd")
        assert runner.launcher_pid == first


@each_machine
async def test_a_folder_that_cannot_be_entered_is_an_os_error(tmp_path: Path, machine: Mechanisms) -> None:
    policy = workspace(tmp_path)
    closed = tmp_path / "cwd/closed"
    closed.mkdir()
    (tmp_path / "cwd/file").touch()
    closed.chmod(0)
    try:
        async with running(policy, machine) as runner:
            with pytest.raises(PermissionError) as caught:
                await runner.start(shell("true", closed))
            assert caught.value.filename == str(closed)
            with pytest.raises(NotADirectoryError):
                await runner.start(shell("true", tmp_path / "cwd/file"))
            with pytest.raises(PermissionError):
                await runner.start(CommandSpec((str(tmp_path / "cwd/file"),), tmp_path, dict(ENV)))
    finally:
        closed.chmod(0o700)


@each_machine
@pytest.mark.parametrize("name", ["new\nline", os.fsdecode(b"caf\xe9 \xff"), " ", "ünï 漢字", "'\"$(x)"])
async def test_any_bytes_go_through_in_folder_arguments_and_environment(
    tmp_path: Path, machine: Mechanisms, name: str
) -> None:
    policy = workspace(tmp_path)
    cwd = tmp_path / "cwd" / name
    cwd.mkdir()
    policy = dataclasses.replace(policy, write_roots=(str(cwd),), protected=(f"{cwd}/.git",))
    async with running(policy, machine) as runner:
        script = 'pwd; printf "%s|%s|" "$1" "$NAME"; touch made'
        handle = await runner.start(
            CommandSpec(("/bin/sh", "-c", script, "sh", name), cwd, {**ENV, "NAME": name})
        )
        word = os.fsencode(name)
        assert await read(handle) == os.fsencode(cwd) + b"\n" + word + b"|" + word + b"|"
        assert (cwd / "made").exists()


@each_machine
async def test_too_long_a_command_line_is_an_os_error_and_the_next_command_runs(
    tmp_path: Path, machine: Mechanisms
) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        for spec in (
            CommandSpec(("/bin/echo", "x" * 200_000), tmp_path, dict(ENV)),
            CommandSpec(("/bin/echo", *["x" * 1000] * 4000), tmp_path, dict(ENV)),
            CommandSpec(("/bin/echo",), tmp_path, {f"V{number}": "x" * 100_000 for number in range(100)}),
        ):
            with pytest.raises(OSError, match="too long") as caught:
                await runner.start(spec)
            assert caught.value.errno == errno.E2BIG
        handle = await runner.start(CommandSpec(("/bin/echo", "x" * 100_000), tmp_path, dict(ENV)))
        assert len(await read(handle)) == 100_001


@each_machine
async def test_many_commands_in_a_row_and_at_once_leave_neither_descriptors_nor_processes(
    tmp_path: Path, machine: Mechanisms
) -> None:
    async with running(workspace(tmp_path), machine) as runner:

        async def one(number: int) -> str:
            return await said(runner, f"echo {number}; exit {number % 3}", tmp_path)

        await one(0)
        before = open_descriptors()
        for number in range(100):
            assert await one(number) == f"{number}\n"
        assert await asyncio.gather(*map(one, range(50))) == [f"{number}\n" for number in range(50)]
        await until(lambda: open_descriptors() <= before + 4)  # a spare more or less
        tree = subprocess.run(
            ["pgrep", "-c", "-f", r"launcher\.py \d+"], capture_output=True, text=True, check=False
        )
        assert int(tree.stdout) < 200
    await until(lambda: open_descriptors() <= before - 2)


@each_machine
async def test_a_start_that_is_cancelled_anywhere_leaves_nothing(tmp_path: Path, machine: Mechanisms) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        await said(runner, "true", tmp_path)
        before = open_descriptors()
        for step in range(40):
            starting = asyncio.create_task(runner.start(shell("sleep 300", tmp_path)))
            for _ in range(step % 10):
                await asyncio.sleep(0)
            starting.cancel()
            with suppress(asyncio.CancelledError):
                await (await starting).kill()
        assert await said(runner, "echo on", tmp_path) == "on\n"
        await until(lambda: open_descriptors() <= before + 4)
        assert runner.idle


@each_machine
async def test_a_launcher_killed_while_commands_are_started_runs_none_of_them_twice(
    tmp_path: Path, machine: Mechanisms
) -> None:
    cwd = tmp_path / "cwd"
    async with running(workspace(tmp_path), machine) as runner:
        await said(runner, "true", cwd)

        async def one(number: int) -> bool:
            try:
                handle = await runner.start(shell(f"echo {number} >>ran; touch ../outside/no", cwd))
            except SandboxError as error:
                assert "is not known" in (error.hint or "") or "again and again" in error.message
                return False
            return not (await handle.wait()).lost

        for round_ in range(4):
            launcher = runner.launcher_pid
            assert launcher is not None
            starting = [asyncio.create_task(one(round_ * 10 + number)) for number in range(10)]
            for _ in range(round_ * 3):
                await asyncio.sleep(0.001)
            os.kill(launcher, signal.SIGKILL)
            done = await asyncio.gather(*starting)
            ran = Counter((cwd / "ran").read_text().split()) if (cwd / "ran").exists() else Counter()
            assert max(ran.values(), default=1) == 1
            assert all(str(round_ * 10 + number) in ran for number, well in enumerate(done) if well)
            while not await one(1_000 + round_):
                (cwd / "ran").unlink(missing_ok=True)
        assert not (tmp_path / "outside/no").exists()


@each_machine
async def test_policies_that_change_while_commands_start_lose_none_of_them(
    tmp_path: Path, machine: Mechanisms
) -> None:
    policy = workspace(tmp_path)
    other = dataclasses.replace(policy, caches=(f"{tmp_path}/outside",))
    turn = itertools.cycle((policy, policy, other))
    runner = SandboxedRunner(policy, mechanisms=machine, rescan=lambda: next(turn))
    try:
        outputs = await asyncio.gather(*(said(runner, f"echo {n}", tmp_path) for n in range(15)))
        assert outputs == [f"{n}\n" for n in range(15)]
    finally:
        await runner.close()


@each_machine
async def test_a_stopped_launcher_keeps_nobody_from_ending_a_command_or_starting_the_next(
    tmp_path: Path, machine: Mechanisms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grokmini.sandbox.launch.SPARE_LIMIT", 0.5)
    async with running(workspace(tmp_path), machine) as runner:
        handle = await runner.start(shell("echo go; sleep 300", tmp_path))
        assert await anext(handle.output()) == b"go\n"
        launcher = runner.launcher_pid
        assert launcher is not None
        stopped = launcher if machine.bwrap is None else await innermost(launcher)
        os.kill(stopped, signal.SIGSTOP)
        await asyncio.wait_for(handle.kill(), WAIT)
        for number in range(3):  # the first may find a spare
            assert await asyncio.wait_for(said(runner, f"echo {number}", tmp_path), WAIT) == f"{number}\n"
        assert runner.launcher_pid != launcher
        await until(lambda: not alive(launcher) and not alive(stopped))


@each_machine
async def test_a_stopped_supervisor_does_not_keep_the_runner_from_closing_and_nothing_is_left(
    tmp_path: Path, machine: Mechanisms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grokmini.sandbox.client.CLOSE_LIMIT", 0.5)
    async with running(workspace(tmp_path), machine) as runner:
        handle = await runner.start(shell("echo go; sleep 300", tmp_path))
        assert await anext(handle.output()) == b"go\n"
        supervisor = parent_of(handle.pid)
        os.kill(supervisor, signal.SIGSTOP)
        await asyncio.wait_for(runner.close(), WAIT)
        await until(lambda: not alive(supervisor) and not alive(handle.pid))
        assert handle.ended


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def innermost(pid: int) -> int:
    """The launcher in bubblewrap: what bubblewrap's own child started."""
    for _ in range(2):
        (pid,) = (int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return pid


async def playing(answers: list[tuple[bytes, list[int]]], take: Callable[[LauncherProcess], object]) -> None:
    """A launcher that answers so to one request after another, while `take` uses it."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    process = subprocess.Popen(["sleep", "300"])

    def play() -> None:
        with suppress(OSError):  # it is over
            for answer, fds in answers:
                if not theirs.recv(64):
                    return
                socket.send_fds(theirs, [answer], fds)

    launcher = LauncherProcess(process, ours, Ready((), ()))
    played = asyncio.create_task(asyncio.to_thread(play))
    try:
        await take(launcher)  # type: ignore[misc]
    finally:
        theirs.shutdown(socket.SHUT_RDWR)
        process.kill()
        await launcher.close()
        await played
        theirs.close()


async def test_no_process_for_a_spare_is_the_error_of_that_command_alone() -> None:
    job, channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    async def take(launcher: LauncherProcess) -> None:
        with pytest.raises(BlockingIOError, match="unavailable"):
            while True:  # the answer to the first request comes before anybody waits, or after
                (await launcher.take_spare()).close()
        assert not launcher.lost

    await playing(
        [
            (str(errno.EAGAIN).encode(), []),
            (str(errno.EAGAIN).encode(), []),
            (b"S", [job.fileno(), channel.fileno()]),
        ],
        take,
    )
    job.close()
    channel.close()


async def test_a_spare_whose_descriptors_found_no_room_is_an_error_and_not_waited_for() -> None:
    async def take(launcher: LauncherProcess) -> None:
        before = open_descriptors()
        with pytest.raises(OSError, match="Too many open files"):
            await launcher.take_spare()
        assert open_descriptors() <= before

    read_end, write_end = os.pipe()
    await playing([(b"S", [read_end]), (b"S", []), (b"S", [])], take)
    os.close(read_end)
    os.close(write_end)


async def test_a_spare_is_not_inherited_by_other_programs() -> None:
    job, channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    async def take(launcher: LauncherProcess) -> None:
        spare = await launcher.take_spare()
        assert not spare.job.get_inheritable()
        assert not spare.channel.get_inheritable()
        spare.close()

    await playing([(b"S", [job.fileno(), channel.fileno()])], take)
    job.close()
    channel.close()


async def test_whoever_waits_for_a_launcher_that_dies_is_told() -> None:
    async def take(launcher: LauncherProcess) -> None:
        waiting = asyncio.create_task(launcher.take_spare())
        await asyncio.sleep(0)
        launcher._hang_up()
        with pytest.raises(LauncherLostError):
            await waiting
        with pytest.raises(LauncherLostError):
            await launcher.take_spare()

    await playing([], take)


_FEW = """
import asyncio, os, resource, sys
from pathlib import Path
from tests.sandbox.places import machines, said, shell, workspace
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.unconfined import UnconfinedRunner

async def main():
    root = Path(sys.argv[1])
    machine = machines().get(sys.argv[2])
    runner = SandboxedRunner(workspace(root), mechanisms=machine) if machine else UnconfinedRunner()
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    for number in range(10):
        assert await said(runner, f"echo {number}", root) == f"{number}\\n"
    before = len(os.listdir("/proc/self/fd"))
    for left in (0, 1, 2, 3, 4, 5, 6):
        taken = []
        try:
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        except OSError:
            pass
        for _ in range(left):
            os.close(taken.pop())
        for _ in range(4):
            try:
                async with asyncio.timeout(60):
                    await said(runner, "true", root)
            except OSError as error:
                assert not isinstance(error, TimeoutError), "it hangs"
                assert error.errno == 24, error
        for fd in taken:
            os.close(fd)
        assert await said(runner, "echo on", root) == "on\\n"
        async with asyncio.timeout(60):  # no more than a spare is on its way
            while len(os.listdir("/proc/self/fd")) > before + (4 if machine else 0):
                await asyncio.sleep(0.01)
    await runner.close()

asyncio.run(main())
"""


@pytest.mark.parametrize("machine", [*machines(), "none"])
def test_with_few_descriptors_commands_fail_one_by_one_and_then_run_again(tmp_path: Path, machine: str) -> None:
    words = [sys.executable, "-c", _FEW, str(tmp_path), machine]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_nothing_of_it_forks_the_agent(tmp_path: Path) -> None:
    """What a command costs does not grow with the agent."""
    code = (
        "import asyncio, os, sys; from pathlib import Path; from tests.sandbox.places import *\n"
        "async def main():\n"
        "    async with running(workspace(Path(sys.argv[1]))) as runner:\n"
        "        await runner.prepare()\n"
        "        os.register_at_fork(before=lambda: os._exit(7))\n"
        "        before = set(os.listdir('/proc/self/task'))\n"
        "        children = Path(f'/proc/self/task/{os.getpid()}/children').read_text()\n"
        "        for _ in range(5):\n"
        "            await said(runner, 'true', sys.argv[1])\n"
        "            assert set(os.listdir('/proc/self/task')) == before\n"
        "            assert Path(f'/proc/self/task/{os.getpid()}/children').read_text() == children\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
