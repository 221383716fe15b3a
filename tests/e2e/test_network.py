"""Nothing but the model's endpoint is contacted, and nothing listens: with tools, session files and the REPL."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pexpect

from tests.e2e.program import PROGRAM, SECONDS, Place, fixing
from tests.fakes.model_server import ModelServer, Recorded, Reply

LISTENING = "0A"
NO_REMOTE = ("0.0.0.0", 0)


class Socket(NamedTuple):
    """A socket of a process: what kind, whom it talks to, and the kernel's code of its state."""

    kind: str
    remote: tuple[str, int]
    state: str


def family(pid: int) -> list[int]:
    """The process and all that it has started and that still run."""
    found = [pid]
    with suppress(OSError):  # it has just ended, or a thread of it
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError):
                for child in (task / "children").read_text().split():
                    found += family(int(child))
    return found


def links(pid: int) -> list[str]:
    """Where the descriptors of a process lead; those that it closes meanwhile are left out."""
    found = []
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.append(os.readlink(entry))
    return found


def sockets(pid: int) -> list[Socket]:
    """The internet sockets that a process and its children hold open."""
    targets = [target for member in family(pid) for target in links(member)]
    inodes = {target[8:-1] for target in targets if target.startswith("socket:")}
    found = []
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[9] in inodes:
                found.append(Socket(kind, address(fields[2]), fields[3]))
    return found


def address(text: str) -> tuple[str, int]:
    """The kernel's `0100007F:1F90` as host and port."""
    host, _, port = text.partition(":")
    if len(host) > 8:
        return host, int(port, 16)
    return socket.inet_ntoa(struct.pack("<I", int(host, 16))), int(port, 16)


class Watch:
    """A script that looks at the program's sockets with every request."""

    def __init__(self) -> None:
        self.pid = 0
        self.seen: list[list[Socket]] = []
        self._replies = iter(fixing())

    def __call__(self, request: Recorded) -> Reply:
        self.seen.append(sockets(self.pid))
        return next(self._replies)

    def check(self, server: ModelServer) -> None:
        """Every look showed connections to the server and nothing else."""
        port = int(server.origin.rpartition(":")[2])
        assert len(self.seen) == 5
        for look in self.seen:
            assert look, "the connection that the request came over"
            assert {(found.kind, found.remote) for found in look} == {("tcp", ("127.0.0.1", port))}
            assert LISTENING not in {found.state for found in look}


def test_a_headless_job_talks_to_the_model_alone(place: Place) -> None:
    """A proxy that is set for others is left out where the environment says so."""
    place.add_calc()
    watch = Watch()
    with ModelServer() as proxy, ModelServer(watch, strict=True) as server:
        proxied = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"), proxy.origin)
        process = subprocess.Popen(
            ["sh", "-c", f"read go; exec {PROGRAM} -p 'fix the failing test' --yolo </dev/null"],
            cwd=place.project,
            env=place.environment(server, NO_PROXY="127.0.0.1", **proxied),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        watch.pid = process.pid
        process.communicate(b"go\n", timeout=SECONDS)
        assert proxy.requests == []
    assert process.returncode == 0
    assert place.calc_is_right()
    assert len(place.sessions) == 1
    watch.check(server)


def test_a_listening_socket_would_be_seen(place: Place) -> None:
    """The look itself: of this process, which holds one."""
    with socket.create_server(("127.0.0.1", 0)):
        assert (NO_REMOTE, LISTENING) in {(found.remote, found.state) for found in sockets(os.getpid())}


def test_the_repl_talks_to_the_model_alone(place: Place) -> None:
    place.add_calc()
    watch = Watch()
    with ModelServer(watch, strict=True) as server:
        child = place.talk("--plain", "--yolo", server=server)
        watch.pid = pid = child.pid or 0
        child.expect("grokmini 0")
        child.send("fix the failing test\r")
        child.expect("the test is green")
        child.expect("steps")
        assert {found.state for found in sockets(pid)} <= {"01", "08"}, "connected, or closed by the server"
        child.send("/quit\r")
        child.expect(pexpect.EOF)
        child.close()
    assert child.exitstatus == 0
    assert place.calc_is_right()
    watch.check(server)
