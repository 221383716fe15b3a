"""However the program ends, the terminal is as it was, and the end comes soon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

from tests.waiting import SECONDS

PROGRAM = [sys.executable, "-m", "tests.repl.program"]
ROOT = Path(__file__).parents[2]


@contextmanager
def spawned(command: list[str], **environment: str) -> Iterator[Any]:
    """The command on a pty of its own, which is its controlling terminal."""
    child = pexpect.spawn(
        command[0],
        command[1:],
        cwd=str(ROOT),
        env={**os.environ, "TERM": "dumb", "PS1": "shell> ", **environment},
        encoding="utf-8",
        timeout=SECONDS,
    )
    child.delaybeforesend = None
    try:
        yield child
    finally:
        child.close(force=True)


@contextmanager
def program(tmp_path: Path) -> Iterator[Any]:
    """The program, at its prompt."""
    with spawned([*PROGRAM, str(tmp_path / "history.jsonl")]) as child:
        child.expect("› ")
        yield child


def settings(child: Any) -> list[Any]:
    return termios.tcgetattr(child.child_fd)


def fresh_settings() -> list[Any]:
    """What every new pty is set to."""
    with spawned(["sleep", "100"]) as child:
        return settings(child)


def ending(child: Any) -> int:
    """The exit code, once it has ended."""
    child.expect(pexpect.EOF)
    child.wait()
    assert child.signalstatus is None
    code: int = child.exitstatus
    return code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_it_with_its_code_and_a_sane_terminal(tmp_path: Path, number: int, code: int) -> None:
    with program(tmp_path) as child:
        child.send("draft")
        child.expect("draft")
        assert settings(child) != fresh_settings()
        child.kill(number)
        assert ending(child) == code
        assert settings(child) == fresh_settings()


def test_a_crash_is_seen_and_leaves_a_sane_terminal(tmp_path: Path) -> None:
    with program(tmp_path) as child:
        child.send("/usage\r")
        child.expect("RuntimeError: a bug")
        assert ending(child) == 1
        assert settings(child) == fresh_settings()


def test_sigint_from_outside_is_ctrl_c_and_never_leaves(tmp_path: Path) -> None:
    with program(tmp_path) as child:
        for _ in range(3):
            child.kill(signal.SIGINT)
            child.expect("Ctrl-D or /quit leaves")
        child.send("\x04")
        assert ending(child) == 0


def test_a_closed_window_ends_it_soon_and_without_work(tmp_path: Path) -> None:
    master, slave = os.openpty()
    history = str(tmp_path / "history.jsonl")
    child = subprocess.Popen([*PROGRAM, history], cwd=ROOT, stdin=slave, stdout=slave, start_new_session=True)
    os.close(slave)
    written = b""
    while "› ".encode() not in written:
        written += os.read(master, 4096)
    used = cpu_seconds(child.pid)
    os.close(master)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 129
    assert usage.ru_utime + usage.ru_stime - used < 1.0


def cpu_seconds(pid: int) -> float:
    """CPU time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_z_suspends_with_a_sane_terminal_and_fg_comes_back_with_the_draft(tmp_path: Path) -> None:
    with spawned(["bash", "--norc", "--noprofile", "-i"]) as shell:
        shell.expect("shell> ")
        shell.sendline(" ".join([*PROGRAM, str(tmp_path / "history.jsonl")]))
        shell.expect("› ")
        shell.send("dra")
        shell.expect("dra")
        shell.send("\x1a")
        shell.expect("Stopped")
        shell.expect("shell> ")
        shell.sendline("stty -a")
        shell.expect(r" icanon .* echo ")
        shell.expect("shell> ")
        shell.sendline("fg")
        shell.expect("› dra")
        shell.send("ft\x03")
        shell.expect("\n› ")
        shell.send("\x04")
        shell.expect("shell> ")
        shell.sendline("echo code $?")
        shell.expect("code 0")
