"""Numbers that a signal to a group must never get: everybody's, the first process's, our own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.confined import SandboxedCommand
from grokmini.sandbox.guardian import kill_groups
from grokmini.sandbox.unconfined import UnconfinedCommand

NEVER: dict[str, Callable[[], int]] = {
    "0": lambda: 0,
    "1": lambda: 1,
    "less than any": lambda: -1,
    "our own process": os.getpid,
    "our own group": os.getpgrp,
}


@pytest.fixture(params=list(NEVER.values()), ids=list(NEVER))
def never(request: pytest.FixtureRequest) -> int:
    return int(request.param())


@pytest.fixture
def pipes() -> Iterator[tuple[int, int]]:
    """The read ends of two pipes, still open afterwards."""
    ends = [os.pipe(), os.pipe()]
    yield ends[0][0], ends[1][0]
    for pair in ends:
        for end in pair:
            os.close(end)


async def test_no_handle_of_a_confined_command_is_made_with_them(never: int, pipes: tuple[int, int]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(SandboxError, match=f"number {never}"):
        SandboxedCommand(never, ours, pipes[0], None, on_end=lambda: None, on_stuck=lambda: None)


async def test_no_handle_of_an_unconfined_command_is_made_with_them(never: int, pipes: tuple[int, int]) -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        process.wait()
        process.pid = never
        with pytest.raises(SandboxError, match=f"number {never}"):
            UnconfinedCommand(process, *pipes, None, lambda inode: None)


KILLS = """
import os, sys, signal
from grokmini.sandbox.guardian import kill_groups
signalled = []
os.killpg = lambda group, number: signalled.append(group)
kill_groups([0, 1, -1, os.getpid(), os.getpgrp(), 4_000_000])
print(signalled)
"""


def test_kill_groups_leaves_them_out_and_kills_the_others() -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as other:
        words = [sys.executable, "-c", KILLS]
        printed = subprocess.run(
            words, check=True, capture_output=True, text=True, start_new_session=True
        ).stdout
        assert printed == "[4000000]\n"
        kill_groups([other.pid])
        assert other.wait() == -signal.SIGKILL
