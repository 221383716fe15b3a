"""Handing a command to a launcher's child: it runs once, or it is said that nobody knows."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.launch import LauncherLostError, Spare, encode_request, hand_over
from grokmini.sandbox.runner import CommandSpec

SPEC = CommandSpec(("/bin/true",), Path("/"), {"NAME": "value"})


async def handed_over(child: Callable[[socket.socket], None]) -> int:
    """Hand the command to a child that does this."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    job, _other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    playing = asyncio.create_task(asyncio.to_thread(child, theirs))
    try:
        return await hand_over(Spare(job, ours), SPEC, [])
    finally:
        await playing
        for end in (ours, theirs, job, _other):
            end.close()


def take(end: socket.socket, size: int) -> None:
    """Read so many bytes."""
    while size:
        size -= len(end.recv(size))


async def test_a_child_that_has_become_its_program_was_started() -> None:
    def child(end: socket.socket) -> None:
        end.sendall(b"R")
        take(end, len(encode_request(SPEC)))
        end.close()

    assert await handed_over(child) == 0


async def test_a_child_that_was_gone_before_has_not_run_the_command() -> None:
    with pytest.raises(LauncherLostError):
        await handed_over(lambda end: end.close())


async def test_a_child_that_dies_with_the_command_in_hand_is_no_reason_to_run_it_again() -> None:
    def child(end: socket.socket) -> None:
        end.sendall(b"R")
        take(end, len(encode_request(SPEC)) - 1)
        end.close()  # with a byte unread: the other end is reset

    with pytest.raises(SandboxError, match="died as it started the command") as caught:
        await handed_over(child)
    assert "is not known" in (caught.value.hint or "")


MADE = """
import os, stat
from grokmini.sandbox.launcher import Launcher

def sockets():
    found = [fd for fd in map(int, os.listdir("/proc/self/fd")) if os.path.lexists(f"/proc/self/fd/{fd}")]
    return sum(stat.S_ISSOCK(os.stat(f"/proc/self/fd/{fd}").st_mode) for fd in found)

class Idle(Launcher):
    def _supervise(self, *ends):
        os._exit(0)

class Agent:
    def sendmsg(self, *words):
        print("as it is handed over:", sockets() - before)

before = sockets()
Idle(Agent(), None)._make_spare()
print("afterwards:", sockets() - before)
"""


def test_a_launcher_holds_no_end_of_a_command_s_sockets_when_it_hands_them_over() -> None:
    """Else one that is stopped right then keeps the agent from seeing the end of them."""
    done = subprocess.run([sys.executable, "-c", MADE], capture_output=True, text=True, check=True)
    assert done.stdout == "as it is handed over: 2\nafterwards: 0\n"
