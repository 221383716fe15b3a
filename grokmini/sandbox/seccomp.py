"""The system call filter of commands, as a program for the kernel's packet filter machine (classic BPF).

Written for x86_64 and aarch64. A refused call fails with EPERM, as it would for want of a right; `clone3` fails
with ENOSYS, since its flags cannot be looked at, and programs then use `clone`.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

LOAD: Final = 0x20
JUMP: Final = 0x05
JUMP_EQUAL: Final = 0x15
JUMP_GREATER_EQUAL: Final = 0x35
JUMP_ANY_BIT: Final = 0x45
AND: Final = 0x54
RETURN: Final = 0x06

ALLOW: Final = 0x7FFF0000
FAIL: Final = 0x00050000
"""Or-ed with an error number."""

NUMBER_AT: Final = 0
ARCHITECTURE_AT: Final = 4
ARGUMENTS_AT: Final = 16

X32_BIT: Final = 0x40000000
NAMESPACES: Final = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET."""
TERMINAL_INPUT: Final = (0x5412, 0x541C)
"""TIOCSTI types into a terminal, TIOCLINUX pastes into a console."""
UNIX: Final = 1
INTERNET: Final = (2, 10)
PACKET: Final = 17
STREAM: Final = 1
RAW: Final = 3
SEQPACKET: Final = 5
TYPE_MASK: Final = 0xF
"""A socket's type without the flags that are or-ed to it."""

SocketMode = Literal["open", "pairs", "unix"]
"""Which sockets a command gets: all but raw ones, unaddressable pairs alone, or those of this machine."""

_NEW_CALLS: Final = {
    "io_uring_setup": 425,
    "io_uring_enter": 426,
    "io_uring_register": 427,
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "clone3": 435,
    "pidfd_getfd": 438,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "open_tree_attr": 467,
}
"""Calls whose number is the same everywhere."""

CALLS: Final[Mapping[str, Mapping[str, int]]] = {
    "x86_64": {
        "ioctl": 16,
        "socket": 41,
        "connect": 42,
        "accept": 43,
        "sendto": 44,
        "bind": 49,
        "listen": 50,
        "socketpair": 53,
        "clone": 56,
        "pivot_root": 155,
        "acct": 163,
        "mount": 165,
        "umount2": 166,
        "swapon": 167,
        "swapoff": 168,
        "reboot": 169,
        "init_module": 175,
        "delete_module": 176,
        "quotactl": 179,
        "kexec_load": 246,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "unshare": 272,
        "accept4": 288,
        "perf_event_open": 298,
        "prlimit64": 302,
        "open_by_handle_at": 304,
        "sendmmsg": 307,
        "setns": 308,
        "finit_module": 313,
        "kexec_file_load": 320,
        "bpf": 321,
        "userfaultfd": 323,
        **_NEW_CALLS,
    },
    "aarch64": {
        "ioctl": 29,
        "umount2": 39,
        "mount": 40,
        "pivot_root": 41,
        "quotactl": 60,
        "acct": 89,
        "unshare": 97,
        "kexec_load": 104,
        "init_module": 105,
        "delete_module": 106,
        "reboot": 142,
        "socket": 198,
        "socketpair": 199,
        "bind": 200,
        "listen": 201,
        "accept": 202,
        "connect": 203,
        "sendto": 206,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "clone": 220,
        "swapon": 224,
        "swapoff": 225,
        "perf_event_open": 241,
        "accept4": 242,
        "prlimit64": 261,
        "open_by_handle_at": 265,
        "setns": 268,
        "sendmmsg": 269,
        "finit_module": 273,
        "bpf": 280,
        "userfaultfd": 282,
        "kexec_file_load": 294,
        **_NEW_CALLS,
    },
}
ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""By the machine's name as `os.uname` tells it: the number the kernel gives to a filter."""

NEVER: Final = (
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "mount",
    "umount2",
    "pivot_root",
    "open_tree",
    "open_tree_attr",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "unshare",
    "setns",
    "keyctl",
    "add_key",
    "request_key",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "open_by_handle_at",
    "pidfd_getfd",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
)
"""Calls that no command gets, whatever the profile (`off` has no filter at all)."""
NOT_WITHOUT_NETWORK: Final = ("socket", "connect", "bind", "listen", "accept", "accept4", "sendmmsg")


class Instruction(NamedTuple):
    """One instruction; `yes` and `no` are how many to step over."""

    code: int
    value: int
    yes: int = 0
    no: int = 0


class _Assembler:
    """Collects instructions. Each rule is a block that falls through to the next when it does not apply."""

    def __init__(self) -> None:
        self.program: list[Instruction] = []

    def add(self, *instructions: Instruction) -> None:
        self.program += instructions

    def for_call(self, number: int, body: Iterable[Instruction]) -> None:
        """`body` runs for that call alone and must return; the call's number is loaded before and after."""
        block = tuple(body)
        self.add(Instruction(JUMP_EQUAL, number, 0, len(block)), *block)


def filter_program(machine: str, sockets: SocketMode) -> tuple[Instruction, ...]:
    """The filter for a machine (a key of `ARCHITECTURES`)."""
    calls = CALLS[machine]
    out = _Assembler()
    out.add(
        Instruction(LOAD, ARCHITECTURE_AT),
        Instruction(JUMP_EQUAL, ARCHITECTURES[machine], 1, 0),
        _fail(errno.EPERM),
        Instruction(LOAD, NUMBER_AT),
    )
    if machine == "x86_64":
        out.add(Instruction(JUMP_GREATER_EQUAL, X32_BIT, 0, 1), _fail(errno.EPERM))
    for name in NEVER:
        out.for_call(calls[name], (_fail(errno.EPERM),))
    out.for_call(calls["clone3"], (_fail(errno.ENOSYS),))
    out.for_call(calls["clone"], _unless_bits(0, NAMESPACES))
    out.for_call(calls["ioctl"], _unless_one_of(1, TERMINAL_INPUT))
    out.for_call(calls["prlimit64"], _limits_of_itself())
    for name, body in _socket_rules(sockets):
        out.for_call(calls[name], body)
    out.add(_allow())
    return tuple(out.program)


def packed(program: Iterable[Instruction]) -> bytes:
    """The program as the kernel reads it."""
    return b"".join(struct.pack("=HBBI", step.code, step.yes, step.no, step.value) for step in program)


def _socket_rules(mode: SocketMode) -> Iterable[tuple[str, tuple[Instruction, ...]]]:
    if mode == "open":
        yield "socket", _no_raw_sockets()
    elif mode == "unix":
        yield "socket", _only_family(UNIX)
        yield "socketpair", _only_family(UNIX)
    else:
        for name in NOT_WITHOUT_NETWORK:
            yield name, (_fail(errno.EPERM),)
        yield "sendto", _without_address()
        yield "socketpair", _connected_pairs()


def _allow() -> Instruction:
    return Instruction(RETURN, ALLOW)


def _fail(number: int) -> Instruction:
    return Instruction(RETURN, FAIL | number)


def _low(argument: int) -> Instruction:
    return Instruction(LOAD, ARGUMENTS_AT + 8 * argument)


def _high(argument: int) -> Instruction:
    return Instruction(LOAD, ARGUMENTS_AT + 8 * argument + 4)


def _unless_bits(argument: int, bits: int) -> tuple[Instruction, ...]:
    return (_low(argument), Instruction(JUMP_ANY_BIT, bits, 0, 1), _fail(errno.EPERM), _allow())


def _unless_one_of(argument: int, values: tuple[int, int]) -> tuple[Instruction, ...]:
    first, second = values
    return (
        _low(argument),
        Instruction(JUMP_EQUAL, first, 1, 0),
        Instruction(JUMP_EQUAL, second, 0, 1),
        _fail(errno.EPERM),
        _allow(),
    )


def _limits_of_itself() -> tuple[Instruction, ...]:
    """prlimit64 of another process (argument 0) with new limits (argument 2, a pointer) is refused."""
    return (
        _low(0),
        Instruction(JUMP_EQUAL, 0, 4, 0),
        _low(2),
        Instruction(JUMP_EQUAL, 0, 0, 3),
        _high(2),
        Instruction(JUMP_EQUAL, 0, 0, 1),
        _allow(),
        _fail(errno.EPERM),
    )


def _no_raw_sockets() -> tuple[Instruction, ...]:
    """Packet sockets, and raw ones of the internet families, are refused even to who had the right."""
    return (
        _low(0),
        Instruction(JUMP_EQUAL, PACKET, 5, 0),
        Instruction(JUMP_EQUAL, INTERNET[0], 1, 0),
        Instruction(JUMP_EQUAL, INTERNET[1], 0, 4),
        _low(1),
        Instruction(AND, TYPE_MASK),
        Instruction(JUMP_EQUAL, RAW, 0, 1),
        _fail(errno.EPERM),
        _allow(),
    )


def _only_family(family: int) -> tuple[Instruction, ...]:
    return (_low(0), Instruction(JUMP_EQUAL, family, 1, 0), _fail(errno.EPERM), _allow())


def _without_address() -> tuple[Instruction, ...]:
    return (
        _low(4),
        Instruction(JUMP_EQUAL, 0, 0, 2),
        _high(4),
        Instruction(JUMP_EQUAL, 0, 1, 0),
        _fail(errno.EPERM),
        _allow(),
    )


def _connected_pairs() -> tuple[Instruction, ...]:
    """A pair of datagram sockets could be sent from to any path; of streams it cannot."""
    return (
        _low(0),
        Instruction(JUMP_EQUAL, UNIX, 0, 4),
        _low(1),
        Instruction(AND, TYPE_MASK),
        Instruction(JUMP_EQUAL, STREAM, 2, 0),
        Instruction(JUMP_EQUAL, SEQPACKET, 1, 0),
        _fail(errno.EPERM),
        _allow(),
    )
