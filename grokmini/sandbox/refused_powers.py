"""What the sandbox refuses besides files, recognised in a command's output: the network, and powers over the system.

Pure but for a look at whether this system lets anybody make namespaces at all.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grokmini.sandbox.policy import Policy

_HOST: Final = r"['\"]?([A-Za-z0-9][A-Za-z0-9_.-]*[A-Za-z0-9])"
_NAMELESS: Final = (
    rf"could not resolve host(?:name)?:? {_HOST}",
    rf"getaddrinfo (?:EAI_AGAIN|ENOTFOUND|EPERM)? ?{_HOST}",
    rf"unable to resolve host address {_HOST}",
    rf"temporary failure resolving {_HOST}",
    rf"lookup {_HOST}",
    rf"host={_HOST}",
    rf"connect(?:ing)? to (?:server )?{_HOST}",
    rf"https?://{_HOST}",
)
_NO_NETWORK: Final = re.compile(
    r"network is unreachable|\bENETUNREACH\b|could not resolve (?:host|proxy)|temporary failure (?:in name resolution|"
    r"resolving)|name or service not known|no address associated with hostname|unable to resolve host|\bEAI_AGAIN\b|"
    r"\bENOTFOUND\b|failed to lookup address|could not resolve hostname|nodename nor servname|UnknownHostException",
    re.I,
)
_NO_CONNECTION: Final = re.compile(
    r"connection refused|\bECONNREFUSED\b|failed to connect to|could not connect to|couldn't connect to server",
    re.I,
)
"""Without sockets nobody else can have refused."""
_REFUSED: Final = re.compile(
    r"operation not permitted|\bEPERM\b|errno 1\b|os error 1\b|permission denied", re.I
)
_SOCKET: Final = re.compile(
    r"socket|\bconnect|\bbind\b|\blisten|\bdial\b|getaddrinfo|/dev/(?:tcp|udp)/|\bport\b|create_connection|"
    r"forkserver|multiprocessing|https?://|\bcurl\b|\bssh\b",
    re.I,
)
_FILE_SOCKET: Final = re.compile(
    r"multiprocessing|forkserver|unix_listener|\bAF_UNIX\b|unix socket|unix:|\.sock\b|dial unix|ssh-agent|^SSH_AUTH",
    re.I | re.M,
)
_SERVER: Final = re.compile(
    r"\b127\.\d+\.\d+\.\d+|\blocalhost\b|\[::1?\]|0\.0\.0\.0|\blisten\b|\bbind\b|http\.server|socketserver",
    re.I,
)
_NEAR: Final = 12
_FAR: Final = 40
ALLOW_NETWORK: Final = (
    "the user can allow it: /sandbox workspace (at the start --sandbox workspace), or a profile of their own with "
    'network = "open"'
)
ALLOW_SOCKETS: Final = "a profile of their own with allow_unix = true"

_NO_PRIVILEGES: Final = re.compile(
    r"no new privileges|effective uid is not 0, is \S+ on a file system|^sudo: PERM_\w+: set\w+", re.I | re.M
)
_SU: Final = re.compile(
    r"^(su|newgrp|sg|doas|pkexec|runuser): .*(?:operation not permitted|must be s(?:et)?uid|setuid root|system error)",
    re.I | re.M,
)
_NAMESPACE: Final = re.compile(
    r"^(unshare|bwrap|bubblewrap|nsenter|newuidmap|newgidmap|podman|buildah|firejail|slirp4netns): .*"
    r"(?:operation not permitted|permission denied|no permissions)"
    r"|(no usable sandbox|failed to move to new namespace|cannot clone: operation not permitted)",
    re.I | re.M,
)
_MOUNT: Final = re.compile(
    r"^(mount|umount|chroot|mknod|swapon|losetup|modprobe|insmod|sysctl): .*"
    r"(?:operation not permitted|permission denied|must be superuser)",
    re.I | re.M,
)
_SHADOW: Final = re.compile(
    r"sanitizer failed to allocate 0x|ReserveShadowMemoryRange failed|Sanitizer can not mmap the shadow memory"
)
_NO_SOCKET: Final = re.compile(r"\bsocket: operation not permitted", re.I)
_NAMESPACES: Final = Path("/proc/sys/user/max_user_namespaces")


def refused_network(output: str, policy: Policy) -> Iterator[tuple[str, str, str]]:
    """What could not be reached, each with rule and hint, when the policy blocks the network."""
    if policy.network != "blocked":
        return
    lines = output.splitlines()
    for number, line in enumerate(lines):
        near = lines[max(0, number - _NEAR) : number + 1]
        unconnected = _NO_CONNECTION.search(line) and not policy.allow_unix
        if (
            unconnected
            or _NO_NETWORK.search(line)
            or (_REFUSED.search(line) and any(map(_SOCKET.search, near)))
        ):
            kept = ", but for sockets of this machine" if policy.allow_unix else ""
            rule = f"the network is blocked{kept} (sandbox profile {policy.profile})"
            around = "\n".join(lines[max(0, number - _FAR) : number + _NEAR])
            yield _host_in(reversed(near)) or "the network", rule, _network_hint(around, policy)
            return


def _network_hint(around: str, policy: Policy) -> str:
    """What to do, and how a person allows it; sockets that are files can be had without the network."""
    advice = f"do it without the network, or say that it is needed: {ALLOW_NETWORK}"
    if policy.allow_unix:
        return advice
    if _FILE_SOCKET.search(around):
        return f"it wants a socket of this machine; do without, or say so: {ALLOW_NETWORK}, or just {ALLOW_SOCKETS}"
    if _SERVER.search(around):
        return f"{advice}; where a server here can use a unix socket, {ALLOW_SOCKETS} is enough"
    return advice


def _host_in(lines: Iterator[str]) -> str:
    for line in lines:
        for words in _NAMELESS:
            if found := re.search(words, line, re.I):
                return found[1]
    return ""


def refused_power(output: str) -> Iterator[tuple[str, str, str]]:
    """Programs that wanted more power over the system than any command gets: each with rule and hint."""
    hint = "do it without root's rights, or tell the user which command to run"
    if _NO_PRIVILEGES.search(output):
        yield "sudo", "no program gains rights in a sandbox (no_new_privs)", hint
    if found := _SU.search(output):
        yield found[1], "no program gains rights in a sandbox (no_new_privs)", hint
    if (found := _NAMESPACE.search(output)) and _may_make_namespaces():
        rule = "namespaces cannot be made in a sandbox"
        yield found[1] or found[2], rule, "run it without a sandbox of its own (browsers: --no-sandbox)"
    if (found := _MOUNT.search(output)) and os.geteuid() == 0:
        yield found[1], "commands in a sandbox have none of root's powers over the system", hint


def memory_notes(output: str, policy: Policy) -> tuple[str, ...]:
    """What to do where a program reserves more memory than one process gets: no file and no rule is in its way."""
    if policy.limits.data is None or not _SHADOW.search(output):
        return ()
    return (
        f"the sandbox lets one process have {policy.limits.data / 1024**3:.0f} GiB, and a sanitizer reserves far more: "
        "put `ulimit -d unlimited;` before the command",
    )


def tells_of_power(line: str) -> bool:
    """Whether a line tells of a power refused, so that paths in it are not what it is about."""
    return any(words.search(line) for words in (_NO_PRIVILEGES, _SU, _NAMESPACE, _MOUNT, _NO_SOCKET))


def _may_make_namespaces() -> bool:
    try:
        return int(_NAMESPACES.read_text()) > 0
    except (OSError, ValueError):
        return True
