"""run_terminal_command: what it returns, what it carries over, what it never leaves behind."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.config.settings import ShellSettings
from grokmini.protocol.tools import CommandDisplay
from grokmini.tools.arguments import decode_arguments
from grokmini.tools.shell_state import parse_exports
from tests.permissions import held_to_permissions
from tests.sandbox.liveness import alive
from tests.tools.room import FolderSpill, NoSpill, Room, room
from tests.waiting import standing_clock, until, until_now


async def _run(made: Room, command: str, **more: object) -> str:
    return await made.call("run_terminal_command", command=command, description="a test", **more)


async def test_the_result_is_the_exit_code_and_the_output(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        output = await made.output("run_terminal_command", command="echo hi; echo err >&2; exit 3")
    assert output.for_model == "exit: 3\nhi\nerr\n"
    assert output.output == "hi\nerr\n"
    assert output.display == CommandDisplay("echo hi; echo err >&2; exit 3", 3)


async def test_folder_and_exports_carry_over(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    async with room(tmp_path) as made:
        first = await _run(made, "cd sub; export A='x y'; B=local; unset PAGER")
        assert f"[commands now start in {tmp_path / 'sub'};" in first
        assert await _run(made, 'pwd; echo "$A|$B|$PAGER"') == f"exit: 0\n{tmp_path / 'sub'}\nx y||\n"
        assert "exit: 0" in await _run(made, "cd - >/dev/null; pwd")
        assert made.shell.cwd == tmp_path


async def test_state_carries_over_from_a_command_that_exits_early_or_fails_to_parse(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        assert "exit: 4" in await _run(made, "export A=1; exit 4; export A=2")
        assert (await _run(made, "if")).startswith("exit: 2\n")
        assert "exit: 1" in await _run(made, "set -eu; export C=3; false; export A=9")
        assert await _run(made, "echo $A$C") == "exit: 0\n13\n"


async def test_of_two_commands_at_once_each_change_is_kept(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await asyncio.gather(_run(made, "export A=1"), _run(made, "export B=2"))
        assert await _run(made, "echo $A$B") == "exit: 0\n12\n"


async def test_a_folder_that_is_gone_is_left_and_said(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await _run(made, "mkdir d; cd d; rmdir ../d")
        assert "no longer exists; the command ran in" in await _run(made, "true")


@pytest.mark.parametrize("closed", ["..", "."])
async def test_a_folder_that_was_closed_is_left_and_said(tmp_path: Path, closed: str) -> None:
    async with room(tmp_path) as made:
        with held_to_permissions():
            await _run(made, f"mkdir -p d/e; cd d/e; chmod 000 {closed}")
            assert "can no longer be entered; the command ran in" in await _run(made, "chmod -R 755 d")


async def test_no_variable_of_ours_and_no_key_reaches_the_command(tmp_path: Path) -> None:
    env = {**os.environ, "XAI_API_KEY": "sk-1", "GROKMINI_X": "y"}
    async with room(tmp_path, env) as made:
        text = await _run(made, "env; export -p")
    assert "XAI_API_KEY" not in text and "GROKMINI" not in text
    assert "TERM=dumb" in text and "GIT_PAGER=cat" in text


async def test_a_command_can_look_for_processes_without_finding_itself(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        assert (await _run(made, "pgrep -f some_unlikely_name_4711")).startswith("exit: 1")


async def test_without_bash_a_plain_shell_carries_state_too(tmp_path: Path) -> None:
    env = {**os.environ, "PATH": str(tmp_path)}
    async with room(tmp_path, env) as made:
        assert made.shell.shell_name == "sh"
        assert await _run(made, 'export A="it\'s"; cd /; echo ok') != ""
        assert await _run(made, 'echo "$A"; pwd') == "exit: 0\nit's\n/\n"


async def test_escapes_rewritten_lines_and_overstriking_are_cleaned(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        text = await _run(made, r"printf '10%%\r50%%\r100%%\n\033[31mred\033[0m\nN\bNA\bA\n'")
    assert text == "exit: 0\n100%\nred\nNA\n"


async def test_binary_output_is_named_not_shown(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        text = await _run(made, "head -c 3000 /dev/urandom")
    assert text.startswith("exit: 0\n[binary output, 3,000 bytes, not shown; full output in ")
    assert len(text) < 300


async def test_long_output_is_head_and_tail_with_the_whole_in_a_file(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await _run(made, "yes row | head -n 10000")  # what stays in memory from a first time is there
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        output = await made.output(
            "run_terminal_command", command="echo first; yes row | head -n 1000000; echo last"
        )
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(output.for_model) < 20_500
    assert "first\n" in output.for_model and output.for_model.endswith("last\n")
    assert "[truncated: first and last 10,000 characters of 4,000,011 bytes; full output in" in output.for_model
    assert output.spill is not None and output.spill.endswith(".txt")
    assert Path(output.spill).stat().st_size == 4_000_011
    assert isinstance(output.display, CommandDisplay) and output.display.lines == 1_000_002
    assert grown < 20_000


async def test_endless_output_ends_at_the_limit_and_with_the_files_cap(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        with standing_clock():
            task = asyncio.create_task(made.output("run_terminal_command", command="yes", timeout=300))
            assert isinstance(made.spill, FolderSpill)
            await asyncio.to_thread(until_now, made.spill.holds(100_000))
        output = await task
    assert output.for_model.startswith("exit: killed (timeout)\n[truncated")
    assert "stopped after 0.3 s with all its processes" in output.for_model
    assert len(output.for_model) < 20_500
    assert isinstance(output.display, CommandDisplay)
    assert (output.display.exit_code, output.display.reason) == (None, "timeout")
    assert output.spill is not None and Path(output.spill).stat().st_size <= 64 * 1024 * 1024


async def test_without_a_place_for_the_whole_the_result_says_so(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        made.spill = NoSpill()
        output = await made.output("run_terminal_command", command="yes | head -n 50000")
    assert "the whole could not be kept in a file" in output.for_model
    assert output.spill is None


async def test_what_was_written_before_a_timeout_is_returned(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "written")
    async with room(tmp_path) as made:
        with standing_clock():
            script = "echo partial; echo >written; sleep 300"
            task = asyncio.create_task(_run(made, script, timeout=150))
            await asyncio.to_thread((tmp_path / "written").read_text)
        text = await task
    assert text.startswith("exit: killed (timeout)\n") and text.endswith("partial\n")


async def test_timeouts_are_bounded_by_the_settings(tmp_path: Path) -> None:
    bounds = ShellSettings(timeout_secs=0.1, max_timeout_secs=0.2)
    async with room(tmp_path, settings=bounds) as made:
        assert "stopped after 0.1 s" in await _run(made, "sleep 300")
        assert "stopped after 0.2 s" in await _run(made, "sleep 300", timeout=999_999)


async def test_death_by_a_signal_is_said(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        assert (await _run(made, "kill -9 $$")).startswith("exit: killed (signal 9)")


async def test_a_left_over_process_is_stopped_and_said(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        text = await _run(made, "sleep 300 & echo ok")
    assert text == "exit: 0\n[processes left running were stopped (1): nothing outlives a call]\nok\n"


async def test_progress_comes_while_the_command_runs(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "seen")
    async with room(tmp_path) as made:
        task = asyncio.create_task(_run(made, "echo early; read x <seen; echo late"))
        await until(lambda: bool(made.progress))
        assert made.progress == ["early\n"]
        await asyncio.to_thread((tmp_path / "seen").write_text, "\n")
        assert await task == "exit: 0\nearly\nlate\n"


async def test_a_cancelled_call_returns_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pids")
    async with room(tmp_path) as made:
        script = "trap '' TERM; sleep 300 & echo $$ $! > pids; wait; sleep 300"
        task = asyncio.create_task(_run(made, script))
        pids = [int(pid) for pid in (await asyncio.to_thread((tmp_path / "pids").read_text)).split()]
        with standing_clock():  # what ends them does not get on
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert all(map(alive, pids))
    await until(lambda: not any(map(alive, pids)))


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_pagers_do_not_wait(tmp_path: Path) -> None:
    env = {**os.environ, "PAGER": "less", "GIT_PAGER": "less", "HOME": str(tmp_path)}
    script = (
        "git init -q . && git config user.email a@b && git config user.name n && git config core.pager less"
        ' && for i in $(seq 40); do git commit -q --allow-empty -m "commit $i"; done'
    )
    subprocess.run(["bash", "-c", script], cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}, check=True)
    async with room(tmp_path, env) as made:
        text = await _run(made, "git log; git diff HEAD~1", timeout=60_000)
    assert text.startswith("exit: 0") and "commit 40" in text


async def test_reading_input_ends_at_once(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        assert await _run(made, "cat; read x; echo done") == "exit: 0\ndone\n"


async def test_a_step_is_fast(tmp_path: Path) -> None:
    async with room(tmp_path) as made:
        await _run(made, "true")
        times, plain = [], []
        for _ in range(15):
            started = time.perf_counter()
            await _run(made, "echo hi")
            times.append(time.perf_counter() - started)
            started = time.perf_counter()
            subprocess.run(["bash", "-c", "echo hi"], stdout=subprocess.DEVNULL, check=True)
            plain.append(time.perf_counter() - started)
    assert min(times) < max(0.1, 20 * min(plain)), "a tenth of a second, or what a slow machine makes of it"


@settings(max_examples=25)
@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
def test_any_value_survives_bash_and_sh(value: str) -> None:
    for shell in (["bash", "--noprofile", "--norc"], ["/bin/sh"]):
        done = subprocess.run(
            [*shell, "-c", "export -p"], env={"VALUE": value}, capture_output=True, check=True
        )
        assert parse_exports(done.stdout.decode("utf-8", "surrogateescape"))["VALUE"] == value


def test_a_command_may_come_without_description_and_with_a_timeout_in_words() -> None:
    from grokmini.tools.builtin.run_terminal_cmd import RunArgs

    assert decode_arguments(json.dumps({"command": "ls", "timeout": "5000"}), RunArgs).args == RunArgs(
        "ls", "", 5_000
    )
