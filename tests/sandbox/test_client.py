"""What the sandboxed runner promises about processes, with and without bubblewrap."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms, probe
from grokmini.sandbox.runner import CommandSpec
from tests.sandbox.liveness import alive
from tests.sandbox.places import machines, read, running, said, shell, without_bwrap, workspace

WAIT = 30.0

each_machine = pytest.mark.parametrize("machine", machines().values(), ids=machines().keys())


async def gone(pid: int) -> bool:
    until = time.monotonic() + WAIT
    while alive(pid) and time.monotonic() < until:
        await asyncio.sleep(0.01)
    return not alive(pid)


async def host_pid(runner_pid: int, marker: str) -> int:
    """The process, as this namespace numbers it, that runs with the marker in its arguments."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        for entry in os.listdir("/proc"):
            if entry.isdigit() and int(entry) != runner_pid:
                try:
                    words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if words[:2] == [b"sleep", marker.encode()]:
                    return int(entry)
        await asyncio.sleep(0.01)
    raise AssertionError("it never started")


@each_machine
async def test_output_code_and_side_channel_come_back(tmp_path: Path, machine: Mechanisms) -> None:
    policy = workspace(tmp_path)
    async with running(policy, machine) as runner:
        script = "echo out; echo err >&2; echo aside >&0; exit 7"
        handle = await runner.start(shell(script, tmp_path / "cwd", side=True))
        assert await read(handle) == b"out\nerr\n"
        assert await handle.side_output() == b"aside\n"
        status = await handle.wait()
        assert (status.code, status.signal, status.left_over, status.lost) == (7, None, 0, False)
        handle = await runner.start(shell("kill -9 $$", tmp_path / "cwd"))
        assert (await handle.wait()).signal == signal.SIGKILL


@each_machine
async def test_writes_stop_at_the_folders_of_the_policy(tmp_path: Path, machine: Mechanisms) -> None:
    policy = workspace(tmp_path)
    async with running(policy, machine) as runner:
        script = f"echo x >in; echo x >{tmp_path}/temp/in; echo x >{tmp_path}/scratch/in; echo x >../outside/no"
        assert "no" in await said(runner, script, tmp_path / "cwd")
        assert not (tmp_path / "outside/no").exists()
        assert all((tmp_path / name / "in").read_text() == "x\n" for name in ("cwd", "temp", "scratch"))


@each_machine
async def test_the_command_has_its_own_session_no_input_no_terminal_and_only_its_environment(
    tmp_path: Path, machine: Mechanisms
) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        script = "cat; (: </dev/tty) 2>/dev/null && echo tty; env; echo $(ls /proc/self/fd); "
        script += "ps -o sid= -p $$; echo $$"
        lines = (await said(runner, script, tmp_path / "cwd")).split("\n")
        names = {line.partition("=")[0] for line in lines if "=" in line}
        assert names <= {"PATH", "LANG", "PWD", "_", "SHLVL", "OLDPWD"}
        assert lines[-4].split() == ["0", "1", "2", "3"]  # 3 is the folder ls reads
        assert lines[-3].strip() == lines[-2].strip()


@each_machine
@pytest.mark.parametrize(
    "command",
    ["sleep {0} &", "setsid sleep {0} &", "(setsid sleep {0} >&- 2>&- &); sleep 0.02;"],
)
async def test_what_a_command_leaves_running_is_gone_when_it_ends(
    tmp_path: Path, machine: Mechanisms, command: str
) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        marker = f"30{os.getpid()}"
        handle = await runner.start(shell(command.format(marker) + " echo ok", tmp_path / "cwd"))
        assert await read(handle) == b"ok\n"
        status = await handle.wait()
        assert status.code == 0
        assert status.left_over >= 1
        found = subprocess.run(["pgrep", "-f", f"^sleep {marker}$"], capture_output=True, check=False)
        assert found.stdout == b""


@each_machine
async def test_last_words_of_a_child_are_still_read(tmp_path: Path, machine: Mechanisms) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        count = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"
        handle = await runner.start(shell(f"({count}; echo late) & echo early", tmp_path / "cwd"))
        assert await read(handle) == b"early\nlate\n"
        assert (await handle.wait()).left_over == 0


@each_machine
async def test_kill_asks_first_and_ends_a_tree_that_does_not_listen(
    tmp_path: Path, machine: Mechanisms
) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        handle = await runner.start(
            shell("trap 'echo asked; exit 3' TERM; echo go; sleep 300 & wait", tmp_path)
        )
        stream = handle.output()
        assert await anext(stream) == b"go\n"
        await handle.kill()
        assert (await handle.wait()).code == 3
        script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 300' & echo go; sleep 300; sleep 300"
        handle = await runner.start(shell(script, tmp_path))
        assert await anext(handle.output()) == b"go\n"
        handle.abandon()
        handle.abandon()
        status = await handle.wait()
        assert status.signal == signal.SIGKILL
        assert await gone(handle.pid)


async def test_the_process_id_is_ours_also_inside_bubblewrap(tmp_path: Path) -> None:
    async with running(workspace(tmp_path)) as runner:
        marker = f"31{os.getpid()}"
        handle = await runner.start(shell(f"exec sleep {marker}", tmp_path))
        assert handle.pid == await host_pid(os.getpid(), marker)
        await handle.kill()
        assert await gone(handle.pid)


@each_machine
async def test_a_missing_folder_or_program_is_an_os_error_and_leaks_nothing(
    tmp_path: Path, machine: Mechanisms
) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        await said(runner, "true", tmp_path)
        most = len(os.listdir("/proc/self/fd")) + 2  # the sockets of the next spare, which may not be there yet
        wrong = (shell("true", tmp_path / "nowhere"), CommandSpec(("/no/such/program",), tmp_path, {}))
        for spec in wrong * 5:
            with pytest.raises(FileNotFoundError) as caught:
                await runner.start(spec)
            assert str(caught.value.filename).startswith(("/no/such", str(tmp_path)))
        assert await said(runner, "echo on", tmp_path) == "on\n"
        assert len(os.listdir("/proc/self/fd")) <= most


@each_machine
async def test_a_big_environment_and_many_commands_at_once(tmp_path: Path, machine: Mechanisms) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        env = {"PATH": os.environ["PATH"], **{f"V{number}": "x" * 100_000 for number in range(10)}}
        specs = [
            CommandSpec(("/bin/sh", "-c", f"echo {number} ${{#V9}}"), tmp_path, env) for number in range(8)
        ]
        handles = await asyncio.gather(*map(runner.start, specs))
        outputs = await asyncio.gather(*map(read, handles))
        assert outputs == [f"{number} 100000\n".encode() for number in range(8)]


@each_machine
async def test_closing_the_runner_kills_what_runs_and_the_launcher(tmp_path: Path, machine: Mechanisms) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        handle = await runner.start(shell("trap '' TERM; echo go; sleep 300; sleep 300", tmp_path))
        assert await anext(handle.output()) == b"go\n"
        launcher = runner.launcher_pid
        assert launcher is not None
        await runner.close()
        assert not alive(handle.pid)
        assert not alive(launcher)
        with pytest.raises(RuntimeError):
            await runner.start(shell("true", tmp_path))


@each_machine
async def test_kill_now_needs_no_loop(tmp_path: Path, machine: Mechanisms) -> None:
    async with running(workspace(tmp_path), machine) as runner:
        handles = [
            await runner.start(shell("trap '' TERM; echo go; sleep 300; sleep 300", tmp_path)) for _ in range(3)
        ]
        for handle in handles:
            assert await anext(handle.output()) == b"go\n"
        runner.kill_now()
        until = time.monotonic() + WAIT
        while any(alive(handle.pid) for handle in handles) and time.monotonic() < until:
            time.sleep(0.01)  # the loop stands still
        assert not any(alive(handle.pid) for handle in handles)


@each_machine
async def test_a_dead_launcher_is_replaced_and_its_job_told_as_lost(
    tmp_path: Path, machine: Mechanisms
) -> None:
    """Never an unconfined retry."""
    async with running(workspace(tmp_path), machine) as runner:
        handle = await runner.start(shell("echo go; sleep 300", tmp_path))
        assert await anext(handle.output()) == b"go\n"
        launcher = runner.launcher_pid
        assert launcher is not None
        os.kill(launcher, signal.SIGKILL)
        status = await handle.wait()
        assert status.lost
        assert await gone(handle.pid)
        script = f"echo again; touch {tmp_path}/outside/no"
        assert (await said(runner, script, tmp_path)).startswith("again\n")
        assert not (tmp_path / "outside/no").exists()
        assert runner.launcher_pid not in (launcher, None)


async def test_the_enforcement_is_told_after_the_proof_and_names_what_is_lost(tmp_path: Path) -> None:
    async with running(workspace(tmp_path)) as runner:
        assert not runner.enforcement.confined
        told = await runner.prepare()
        assert (told.label, told.confined, told.network_blocked) == ("workspace", True, False)
        assert runner.enforcement == told
    async with running(workspace(tmp_path), without_bwrap()) as runner:
        told = await runner.prepare()
        assert (told.label, told.confined) == ("workspace, no bubblewrap", True)
        assert any("chmod, chown, utime" in text for text in told.lost)


async def test_a_named_profile_that_cannot_be_kept_is_refused_unless_best_effort(tmp_path: Path) -> None:
    from grokmini.sandbox.client import SandboxedRunner

    named = dataclasses.replace(workspace(tmp_path), explicit=True)
    runner = SandboxedRunner(named, mechanisms=without_bwrap())
    with pytest.raises(SandboxError) as caught:
        await runner.prepare()
    assert "chmod" in caught.value.message
    assert "apt install bubblewrap" in caught.value.hint
    assert "--sandbox-best-effort" in caught.value.hint
    await runner.close()
    runner = SandboxedRunner(named, mechanisms=without_bwrap(), best_effort=True)
    assert (await runner.prepare()).confined
    await runner.close()


async def test_a_bubblewrap_that_fails_makes_way_for_the_next_layer(tmp_path: Path) -> None:
    """H55"""
    stub = tmp_path / "bin" / "bwrap"
    stub.parent.mkdir()
    stub.write_text(
        "#!/bin/sh\necho 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2\nexit 1\n"
    )
    stub.chmod(0o755)
    found = probe(str(stub.parent))
    assert found.bwrap is None
    assert "RTM_NEWADDR" in found.reasons["bubblewrap"]
    broken = probe()._replace(bwrap=str(stub))  # worked when it was tried, fails when it counts
    for machine in (found, broken):
        async with running(workspace(tmp_path), machine) as runner:
            assert (
                await said(runner, "pwd; touch f; touch ../z 2>/dev/null", tmp_path / "cwd")
                == f"{tmp_path}/cwd\n"
            )
            assert (tmp_path / "cwd/f").exists()
            assert not (tmp_path / "z").exists()
            assert runner.enforcement.confined


async def test_a_policy_is_renewed_for_the_next_command_while_what_runs_goes_on(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    async with running(policy) as runner:
        os.mkfifo(tmp_path / "cwd/gate")
        handle = await runner.start(shell("echo go; read line <gate; echo $line >late", tmp_path / "cwd"))
        assert await anext(handle.output()) == b"go\n"
        first = runner.launcher_pid
        runner.expect(dataclasses.replace(policy, write_roots=()))
        await said(runner, "touch no", tmp_path / "cwd")
        assert runner.launcher_pid != first
        assert not (tmp_path / "cwd/no").exists()
        await asyncio.to_thread((tmp_path / "cwd/gate").write_text, "word\n")
        assert (await handle.wait()).code == 0
        assert (tmp_path / "cwd/late").read_text() == "word\n"
        assert first is not None
        assert await gone(first)


async def test_protected_paths_are_covered_once_a_command_made_them(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    policy = dataclasses.replace(policy, protected=(f"{tmp_path}/cwd/.grokmini",))
    async with running(policy) as runner:
        await said(runner, "mkdir .grokmini", tmp_path / "cwd")
        await said(runner, "touch .grokmini/config.toml; mv .grokmini other; mkdir .grokmini", tmp_path / "cwd")
        assert list((tmp_path / "cwd/.grokmini").iterdir()) == []
        assert not (tmp_path / "cwd/other").exists()


async def test_a_repository_made_without_hooks_cannot_be_given_some(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    policy = dataclasses.replace(
        policy, protected=(f"{tmp_path}/cwd/.git/hooks", f"{tmp_path}/cwd/.git/config")
    )
    async with running(policy) as runner:
        await said(runner, "git init -q --template= . && ! test -e .git/hooks && touch made", tmp_path / "cwd")
        await said(runner, "mkdir -p .git/hooks; touch .git/hooks/pre-commit", tmp_path / "cwd")
        assert (tmp_path / "cwd/made").exists()
        assert list((tmp_path / "cwd/.git/hooks").iterdir()) == []


async def test_globs_are_scanned_anew_before_each_command(tmp_path: Path) -> None:
    policy = workspace(tmp_path)
    secret = tmp_path / "cwd/secret"

    def rescan() -> Policy:
        return dataclasses.replace(policy, denied=(str(secret),) if secret.exists() else ())

    from grokmini.sandbox.client import SandboxedRunner

    runner = SandboxedRunner(policy, rescan=rescan)
    assert await said(runner, "echo open >secret; cat secret", tmp_path / "cwd") == "open\n"
    assert "denied" in await said(runner, "cat secret", tmp_path / "cwd")
    await runner.close()


async def test_one_call_outside_is_not_confined_but_as_tidy(tmp_path: Path) -> None:
    async with running(workspace(tmp_path)) as runner:
        handle = await runner.start(shell(f"touch {tmp_path}/outside/yes; sleep 300 &", tmp_path, outside=True))
        assert (await handle.wait()).left_over == 1
        assert (tmp_path / "outside/yes").exists()
        await said(runner, f"touch {tmp_path}/outside/no", tmp_path)
        assert not (tmp_path / "outside/no").exists()


_AGENT = """
import asyncio, os, sys
from pathlib import Path
from tests.sandbox.places import machines, shell, workspace
from grokmini.sandbox.client import SandboxedRunner

async def main():
    runner = SandboxedRunner(workspace(Path(sys.argv[1])), mechanisms=machines()[sys.argv[2]])
    handle = await runner.start(shell(sys.argv[3], sys.argv[1]))
    async for chunk in handle.output():
        os.write(1, b"%d %d\\n" % (handle.pid, runner.launcher_pid))

asyncio.run(main())
"""


@pytest.mark.parametrize("machine", machines())
@pytest.mark.parametrize(
    "command",
    [
        "trap '' TERM HUP INT; echo go; while :; do sleep 0.05; done",
        "setsid sh -c 'trap \"\" TERM HUP; exec 0>&- 2>&-; echo go; while :; do sleep 0.05; done' & sleep 60",
    ],
)
def test_nothing_is_left_when_the_agent_is_killed(tmp_path: Path, machine: str, command: str) -> None:
    root = Path(__file__).resolve().parents[2]
    agent = subprocess.Popen(
        [sys.executable, "-c", _AGENT, str(tmp_path), machine, command], stdout=subprocess.PIPE, cwd=root
    )
    assert agent.stdout is not None
    pids = [int(word) for word in agent.stdout.readline().split()]
    agent.kill()
    agent.wait()
    agent.stdout.close()
    until = time.monotonic() + WAIT
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(map(alive, pids))
    while left := subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, check=False).stdout:
        assert time.monotonic() < until, left
