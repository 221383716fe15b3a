"""The system call filter, for both architectures, by an interpreter."""

from __future__ import annotations

import errno
import struct

import pytest

from grokmini.sandbox.seccomp import (
    ALLOW,
    ARCHITECTURES,
    CALLS,
    FAIL,
    NEVER,
    NOT_WITHOUT_NETWORK,
    SocketMode,
    filter_program,
    packed,
)
from tests.sandbox.bpf import run

MACHINES = tuple(ARCHITECTURES)
MODES: tuple[SocketMode, ...] = ("open", "pairs", "unix")
REFUSED = FAIL | errno.EPERM
UNIX, INET, INET6, NETLINK, PACKET, VSOCK = 1, 2, 10, 16, 17, 40
STREAM, DGRAM, RAW, SEQPACKET, CLOEXEC = 1, 2, 3, 5, 0o2000000
EXECVE = {"x86_64": 59, "aarch64": 221}
POINTER = 0x7FFF_0000_1000
HIGH_POINTER = 0x7F_0000_0000
"""A pointer whose low half is zero."""


def ask(machine: str, mode: SocketMode, name: str, *arguments: int) -> int:
    return run(filter_program(machine, mode), ARCHITECTURES[machine], CALLS[machine][name], *arguments)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_no_command_gets_fail_with_eperm_and_ordinary_ones_pass(
    machine: str, mode: SocketMode
) -> None:
    assert {name: ask(machine, mode, name) for name in NEVER} == dict.fromkeys(NEVER, REFUSED)
    program = filter_program(machine, mode)
    refused = {CALLS[machine][name] for name in (*NEVER, "clone3", *NOT_WITHOUT_NETWORK, "socketpair")}
    for number in set(range(500)) - refused:
        assert run(program, ARCHITECTURES[machine], number) == ALLOW, number


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_gets_nothing(machine: str) -> None:
    for foreign in (0x40000003, 0x40000028, *(set(ARCHITECTURES.values()) - {ARCHITECTURES[machine]})):
        assert run(filter_program(machine, "open"), foreign, EXECVE[machine]) == REFUSED


def test_x32_numbers_are_refused() -> None:
    program = filter_program("x86_64", "open")
    for number in (0x40000000, 0x40000000 | 41, 0x40000000 | 59, 0xFFFFFFFF):
        assert run(program, ARCHITECTURES["x86_64"], number) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
def test_processes_and_threads_are_made_but_no_namespaces(machine: str) -> None:
    assert ask(machine, "open", "clone", 17) == ALLOW  # SIGCHLD
    assert ask(machine, "open", "clone", 0x3D0F00) == ALLOW  # a thread
    for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert ask(machine, "open", "clone", bit | 17) == REFUSED
    assert ask(machine, "open", "clone3") == FAIL | errno.ENOSYS


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_can_be_typed_into_a_terminal(machine: str) -> None:
    for request in (0x5412, 0x541C, 0x1_0000_5412):
        assert ask(machine, "open", "ioctl", 0, request) == REFUSED
    assert ask(machine, "open", "ioctl", 0, 0x5401) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_limits_of_other_processes_can_be_read_but_not_set(machine: str) -> None:
    assert ask(machine, "open", "prlimit64", 0, 7, POINTER) == ALLOW
    assert ask(machine, "open", "prlimit64", 4711, 7, 0) == ALLOW
    assert ask(machine, "open", "prlimit64", 4711, 7, POINTER) == REFUSED
    assert ask(machine, "open", "prlimit64", 4711, 7, HIGH_POINTER) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
def test_an_open_network_has_no_raw_sockets(machine: str) -> None:
    for family, kind in (
        (INET, STREAM),
        (INET6, DGRAM),
        (UNIX, DGRAM),
        (NETLINK, RAW),
        (INET, DGRAM | CLOEXEC),
    ):
        assert ask(machine, "open", "socket", family, kind) == ALLOW
    for family, kind in ((INET, RAW), (INET6, RAW | CLOEXEC), (PACKET, DGRAM), (PACKET, RAW)):
        assert ask(machine, "open", "socket", family, kind) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
def test_without_network_there_are_only_pairs_that_cannot_be_addressed(machine: str) -> None:
    for name in NOT_WITHOUT_NETWORK:
        assert ask(machine, "pairs", name, UNIX, STREAM) == REFUSED
    for kind in (STREAM, SEQPACKET, STREAM | CLOEXEC):
        assert ask(machine, "pairs", "socketpair", UNIX, kind) == ALLOW
    assert ask(machine, "pairs", "socketpair", UNIX, DGRAM) == REFUSED
    assert ask(machine, "pairs", "socketpair", VSOCK, STREAM) == REFUSED
    assert ask(machine, "pairs", "sendto", 3, POINTER, 5, 0, 0) == ALLOW
    for address in (POINTER, HIGH_POINTER):
        assert ask(machine, "pairs", "sendto", 3, POINTER, 5, 0, address) == REFUSED


@pytest.mark.parametrize("machine", MACHINES)
def test_local_sockets_alone_when_they_are_allowed(machine: str) -> None:
    assert ask(machine, "unix", "socket", UNIX, STREAM) == ALLOW
    assert ask(machine, "unix", "bind") == ALLOW
    for family in (INET, INET6, NETLINK, PACKET, VSOCK):
        assert ask(machine, "unix", "socket", family, STREAM) == REFUSED
        assert ask(machine, "unix", "socketpair", family, STREAM) == REFUSED


def test_the_program_is_packed_as_the_kernel_reads_it() -> None:
    program = filter_program("x86_64", "pairs")
    data = packed(program)
    assert len(data) == 8 * len(program)
    code, yes, no, value = struct.unpack_from("=HBBI", data, 8)
    assert (code, yes, no, value) == (program[1].code, program[1].yes, program[1].no, ARCHITECTURES["x86_64"])
