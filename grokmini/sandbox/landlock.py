"""What a policy becomes in Landlock: the rights that are handled and the rules that give some back.

Pure but for the look at the top-level folders that a policy which may write everywhere needs. The launcher
applies the plan; kernels that know fewer rights (the ABI number) get a smaller one.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from grokmini.sandbox.policy import Policy

EXECUTE: Final = 1 << 0
WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3
REMOVE_DIR: Final = 1 << 4
REMOVE_FILE: Final = 1 << 5
MAKE_CHAR: Final = 1 << 6
MAKE_DIR: Final = 1 << 7
MAKE_REG: Final = 1 << 8
MAKE_SOCK: Final = 1 << 9
MAKE_FIFO: Final = 1 << 10
MAKE_BLOCK: Final = 1 << 11
MAKE_SYM: Final = 1 << 12
REFER: Final = 1 << 13
TRUNCATE: Final = 1 << 14
IOCTL_DEV: Final = 1 << 15
RESOLVE_UNIX: Final = 1 << 16
"""Since ABI 9: reaching a local socket by its path, of a program that is not confined alike."""

BIND_TCP: Final = 1 << 0
CONNECT_TCP: Final = 1 << 1
SCOPE_ABSTRACT_UNIX: Final = 1 << 0
SCOPE_SIGNAL: Final = 1 << 1

READ: Final = EXECUTE | READ_FILE | READ_DIR
MAKE_DEVICE: Final = MAKE_CHAR | MAKE_BLOCK
WRITE: Final = (
    WRITE_FILE
    | REMOVE_DIR
    | REMOVE_FILE
    | MAKE_DIR
    | MAKE_REG
    | MAKE_SOCK
    | MAKE_FIFO
    | MAKE_SYM
    | REFER
    | TRUNCATE
    | IOCTL_DEV
)
USE_DEVICE: Final = WRITE_FILE | TRUNCATE | IOCTL_DEV

DEVICES: Final = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
)
SHARED_MEMORY: Final = "/dev/shm"
TERMINALS: Final = "/dev/pts"
KERNEL_FOLDERS: Final = ("/dev", "/proc", "/sys")


class LandlockPlan(NamedTuple):
    """What the launcher hands to the kernel. `rules` are paths with the rights below them; missing paths are
    skipped. `size` is the number of bytes of the attribute structure this kernel knows."""

    handled_files: int
    handled_network: int
    scoped: int
    size: int
    rules: tuple[tuple[str, int], ...]

    @property
    def attribute(self) -> bytes:
        """The kernel's `landlock_ruleset_attr`."""
        return struct.pack("=QQQ", self.handled_files, self.handled_network, self.scoped)[: self.size]


def known_rights(abi: int) -> int:
    """Every file right that a kernel of that ABI knows."""
    rights = READ | WRITE | MAKE_DEVICE
    if abi < 5:
        rights &= ~IOCTL_DEV
    if abi < 3:
        rights &= ~TRUNCATE
    if abi < 2:
        rights &= ~REFER
    return rights


def landlock_plan(policy: Policy, abi: int, *, private_devices: bool) -> LandlockPlan:
    """The plan for a kernel of that ABI (1 or more).

    With `private_devices` the terminals below `/dev/pts` are the sandbox's own and may be used.
    """
    known = known_rights(abi)
    handled = known & ~READ if policy.read_all else known
    if abi >= 9 and policy.network == "blocked":
        handled |= RESOLVE_UNIX
    network = BIND_TCP | CONNECT_TCP if policy.network == "blocked" and abi >= 4 else 0
    scoped = SCOPE_ABSTRACT_UNIX | SCOPE_SIGNAL if abi >= 6 else 0
    every = _rules(policy, private_devices=private_devices)
    rules = [(path, rights & handled) for path, rights in every if rights & handled]
    return LandlockPlan(handled, network, scoped, 24 if abi >= 6 else 16 if abi >= 4 else 8, tuple(rules))


def writable_roots(policy: Policy) -> tuple[str, ...]:
    """Every folder below which the policy lets commands write, `write_all` aside."""
    roots = (*policy.write_roots, policy.scratch, *policy.temp, *policy.caches)
    return tuple(dict.fromkeys(filter(None, roots)))


def _rules(policy: Policy, *, private_devices: bool) -> Iterable[tuple[str, int]]:
    everywhere_but = {*KERNEL_FOLDERS, *policy.protected}
    for root in ("/",) if policy.write_all else writable_roots(policy):
        if root == "/" and (policy.write_all or not private_devices):
            yield from ((folder, READ | WRITE) for folder in top_level_without(everywhere_but))
        else:
            yield root, READ | WRITE
    for root in (*policy.write_roots, policy.scratch):
        if root:
            yield root, RESOLVE_UNIX
    if not policy.read_all:
        for root in policy.read_roots:
            yield root, READ
        yield "/proc", READ
        yield "/dev", READ_DIR  # not the devices in it: a disk holds every file
    for device in DEVICES:
        yield device, READ_FILE | USE_DEVICE
    yield SHARED_MEMORY, READ | WRITE
    if private_devices:
        yield TERMINALS, READ | USE_DEVICE


def top_level_without(left_out: set[str]) -> tuple[str, ...]:
    """The folders and files directly below `/`, those in `left_out` excepted.

    Landlock can only give rights, so "everywhere but in /data" is a rule for each of the others. Nothing new
    can then be made directly below `/`.
    """
    with os.scandir("/") as entries:
        return tuple(sorted(entry.path for entry in entries if entry.path not in left_out))
