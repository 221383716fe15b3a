"""What the unconfined runner promises about processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from grokmini.sandbox.environment import neutral_environment
from grokmini.sandbox.guardian import Guardian
from grokmini.sandbox.runner import CommandHandle, CommandSpec
from grokmini.sandbox.unconfined import UnconfinedRunner
from tests.sandbox.liveness import alive

WAIT = 30.0
LONG = 600.0
"""Seconds that no test takes."""


def _spec(command: str, cwd: Path, *, side: bool = False) -> CommandSpec:
    return CommandSpec(("/bin/sh", "-c", command), cwd, neutral_environment(os.environ), side_channel=side)


@asynccontextmanager
async def _runner() -> AsyncIterator[UnconfinedRunner]:
    runner = UnconfinedRunner()
    try:
        yield runner
    finally:
        await runner.close()


async def _read(handle: CommandHandle) -> bytes:
    return b"".join([chunk async for chunk in handle.output()])


async def _gone(pid: int) -> bool:
    until = time.monotonic() + WAIT
    while alive(pid) and time.monotonic() < until:
        await asyncio.sleep(0.01)
    return not alive(pid)


async def test_output_and_error_come_merged_and_the_exit_code_is_told(tmp_path: Path) -> None:
    async with _runner() as runner:
        handle = await runner.start(_spec("echo out; echo err >&2; exit 7", tmp_path))
        assert await _read(handle) == b"out\nerr\n"
        assert (await handle.wait()).code == 7


async def test_death_by_a_signal_is_told_as_one(tmp_path: Path) -> None:
    async with _runner() as runner:
        handle = await runner.start(_spec("kill -9 $$", tmp_path))
        status = await handle.wait()
        assert (status.code, status.signal) == (None, signal.SIGKILL)


async def test_a_command_has_no_terminal_no_input_and_a_session_of_its_own(tmp_path: Path) -> None:
    async with _runner() as runner:
        script = "cat; (: </dev/tty) 2>/dev/null && echo tty; ps -o sid= -p $$ | tr -d ' '; echo $$"
        handle = await runner.start(_spec(script, tmp_path))
        session, pid = (await _read(handle)).split()
        assert session == pid


async def test_the_side_channel_comes_back_whole(tmp_path: Path) -> None:
    async with _runner() as runner:
        handle = await runner.start(_spec("echo aside >&0; echo out", tmp_path, side=True))
        assert await _read(handle) == b"out\n"
        assert await handle.side_output() == b"aside\n"


async def test_too_much_on_the_side_channel_neither_blocks_nor_comes_back_in_part(tmp_path: Path) -> None:
    async with _runner() as runner:
        script = "head -c 2000000 /dev/zero >&0; echo done"
        handle = await runner.start(_spec(script, tmp_path, side=True))
        assert await _read(handle) == b"done\n"
        assert await handle.side_output() == b""


@pytest.mark.parametrize(
    "command", ["sleep 300 & echo $!", "setsid sleep 300 & echo $!", "(trap '' TERM HUP; sleep 300) & echo $!"]
)
async def test_what_a_command_leaves_running_is_gone_when_it_ends(tmp_path: Path, command: str) -> None:
    async with _runner() as runner:
        handle = await runner.start(_spec(command, tmp_path))
        pid = int(await _read(handle))
        status = await handle.wait()
        assert status.code == 0
        assert status.left_over >= 1
        assert await _gone(pid)


async def test_last_words_of_a_child_are_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grokmini.sandbox.unconfined.SETTLE", LONG)
    async with _runner() as runner:
        handle = await runner.start(_spec("(sleep 0.02; echo late) & echo early", tmp_path))
        assert await _read(handle) == b"early\nlate\n"
        assert (await handle.wait()).left_over == 0


async def test_kill_ends_a_group_that_obeys_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grokmini.sandbox.unconfined.TERM_GRACE", LONG)
    async with _runner() as runner:
        handle = await runner.start(_spec("sleep 300 & echo $!; wait", tmp_path))
        child = int(await anext(handle.output()))
        await handle.kill()
        assert (await handle.wait()).signal == signal.SIGTERM
        assert await _gone(child)


async def test_kill_ends_a_tree_that_ignores_being_asked(tmp_path: Path) -> None:
    async with _runner() as runner:
        script = "trap '' TERM; setsid sh -c 'trap \"\" TERM; echo $$; sleep 300' & sleep 300; sleep 300"
        handle = await runner.start(_spec(script, tmp_path))
        child = int(await anext(handle.output()))
        await handle.kill()
        assert (await handle.wait()).signal == signal.SIGKILL
        assert await _gone(child)


async def test_abandon_returns_at_once_and_close_waits_for_the_end(tmp_path: Path) -> None:
    runner = UnconfinedRunner()
    handle = await runner.start(_spec("trap '' TERM; echo $$; sleep 300; sleep 300", tmp_path))
    pid = int(await anext(handle.output()))
    handle.abandon()
    handle.abandon()
    assert alive(pid)
    await runner.close()
    assert not alive(pid)


async def test_closing_the_runner_kills_what_runs(tmp_path: Path) -> None:
    runner = UnconfinedRunner()
    handle = await runner.start(_spec("echo $$; sleep 300", tmp_path))
    pid = int(await anext(handle.output()))
    await runner.close()
    assert not alive(pid)
    with pytest.raises(RuntimeError):
        await runner.start(_spec("true", tmp_path))


async def test_a_pending_read_can_be_cancelled_and_taken_up_again(tmp_path: Path) -> None:
    async with _runner() as runner:
        handle = await runner.start(_spec("read line < gate; echo done", tmp_path))
        os.mkfifo(tmp_path / "gate")
        await handle.kill()
        handle = await runner.start(_spec("read line < gate; echo done", tmp_path))
        stream = handle.output()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await anext(stream)
        await asyncio.to_thread((tmp_path / "gate").write_text, "go\n")
        assert await anext(stream) == b"done\n"


async def test_output_nobody_reads_waits_in_the_pipe_not_in_memory(tmp_path: Path) -> None:
    async with _runner() as runner:
        handle = await runner.start(_spec("yes", tmp_path))
        first = await anext(handle.output())
        assert first.startswith(b"y\n")
        await asyncio.sleep(0.05)
        assert handle._output.unread <= 1_048_576 + 65_536


async def test_a_missing_folder_or_program_is_an_os_error_and_leaks_nothing(tmp_path: Path) -> None:
    async with _runner() as runner:
        await (await runner.start(_spec("true", tmp_path))).wait()  # the guardian starts with the first
        before = set(os.listdir("/proc/self/fd"))
        with pytest.raises(FileNotFoundError):
            await runner.start(_spec("true", tmp_path / "nowhere"))
        with pytest.raises(FileNotFoundError):
            await runner.start(CommandSpec(("/no/such/program",), tmp_path, {}))
        assert set(os.listdir("/proc/self/fd")) <= before


async def test_a_finished_command_leaves_no_descriptor_open(tmp_path: Path) -> None:
    async with _runner() as runner:
        await (await runner.start(_spec("true", tmp_path))).wait()  # the guardian starts with the first
        before = set(os.listdir("/proc/self/fd"))
        handle = await runner.start(_spec("echo hi; sleep 300 &", tmp_path, side=True))
        await _read(handle)
        await handle.wait()
        assert set(os.listdir("/proc/self/fd")) <= before


async def test_the_runner_says_that_nothing_is_enforced() -> None:
    runner = UnconfinedRunner()
    assert runner.enforcement.label == "off"
    assert not runner.enforcement.confined


_AGENT = """
import asyncio, os, sys
from pathlib import Path
from grokmini.sandbox.runner import CommandSpec
from grokmini.sandbox.unconfined import UnconfinedRunner

async def main():
    runner = UnconfinedRunner()
    handle = await runner.start(CommandSpec(("/bin/sh", "-c", sys.argv[1]), Path("/"), {"PATH": os.environ["PATH"]}))
    async for chunk in handle.output():
        os.write(1, chunk)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "command",
    [
        "trap '' TERM HUP INT; echo $$; while :; do sleep 0.05; done",
        "setsid sh -c 'trap \"\" TERM HUP; echo $$; while :; do sleep 0.05; done'; sleep 60",
    ],
)
def test_a_command_is_gone_when_the_agent_is_killed(command: str) -> None:
    agent = subprocess.Popen([sys.executable, "-c", _AGENT, command], stdout=subprocess.PIPE)
    assert agent.stdout is not None
    pid = int(agent.stdout.readline())
    agent.kill()
    agent.wait()
    agent.stdout.close()
    until = time.monotonic() + WAIT
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    gone = not alive(pid)
    if not gone:
        os.kill(pid, signal.SIGKILL)
    assert gone


async def test_a_guardian_that_was_killed_is_replaced_and_knows_what_runs() -> None:
    guardian = Guardian()
    reading, writing = os.pipe()
    inode = os.fstat(reading).st_ino
    with subprocess.Popen(["sleep", "60"], pass_fds=(writing,), start_new_session=True) as held:
        os.close(writing)
        os.close(reading)  # who holds either end is killed
        guardian.expect(inode)
        assert guardian.pid is not None
        os.kill(guardian.pid, signal.SIGKILL)
        os.waitid(os.P_PID, guardian.pid, os.WEXITED | os.WNOWAIT)
        guardian.started(inode, held.pid)
        replacement = guardian.hang_up()
        assert replacement is not None
        assert await asyncio.to_thread(held.wait, WAIT) == -signal.SIGKILL
        assert await asyncio.to_thread(replacement.wait, WAIT) == 0


async def test_kill_now_kills_all_at_once_without_a_loop(tmp_path: Path) -> None:
    async with _runner() as runner:
        handles = [
            await runner.start(_spec("trap '' TERM; setsid sleep 60 & echo $!; wait", tmp_path))
            for _ in range(3)
        ]
        escaped = [int(await anext(handle.output())) for handle in handles]
        runner.kill_now()
        assert all([await _gone(pid) for pid in escaped])
        assert [(await handle.wait()).signal for handle in handles] == [signal.SIGKILL] * 3
        with pytest.raises(RuntimeError):
            await runner.start(_spec("true", tmp_path))


async def test_the_guardian_has_no_environment_and_ends_with_the_runner(tmp_path: Path) -> None:
    async with _runner() as runner:
        await (await runner.start(_spec("true", tmp_path))).wait()
        pid = runner.guardian.pid
        assert pid is not None
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
    assert not alive(pid)
