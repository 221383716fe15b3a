"""What no sandbox of ours keeps, profile by profile: said before somebody relies on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms

Applies: TypeAlias = Callable[[Policy, Mechanisms], bool]


class Limit(NamedTuple):
    """One thing that is not kept: when that is so, in words and as a test, and what it means."""

    when: str
    text: str
    applies: Applies


LIMITS: Final = (
    Limit(
        "Network open",
        "What is readable can be sent away while the network is open; only deny and a blocked network prevent that.",
        lambda policy, _: policy.network == "open",
    ),
    Limit(
        "Network open",
        "Other programs that listen on local sockets can be asked to act outside of the sandbox; only those whose "
        "sockets are listed as hidden are out of reach.",
        lambda policy, _: policy.network == "open",
    ),
    Limit(
        "Project writable",
        "What is left in the project (Makefile, package.json, .venv, .envrc, tests, editor tasks, links) runs later "
        "outside of the sandbox.",
        lambda policy, _: policy.write_all or bool(policy.write_roots),
    ),
    Limit(
        "Project writable",
        "A command that makes .git or .grokmini can also fill it, hooks and settings too: both are kept from the next "
        "command on. A .git/commondir that a command leaves counts until it ends, then it is taken away. Of "
        "repositories inside of the project its submodules are kept, and up to 20 that were there at the start no "
        "deeper than two folders; others can be given hooks and settings.",
        lambda policy, _: bool(policy.write_roots) and not policy.write_all,
    ),
    Limit(
        "Not off",
        "Caches of package managers are shared by sessions under the same profile: what a command leaves there can "
        "come to run in another project, in its sandbox.",
        lambda policy, _: bool(policy.caches),
    ),
    Limit(
        "Paths hidden",
        "Of what is hidden, copies stay readable: in git's objects, in swap, in any other file that holds the same. A "
        "file that comes to match a pattern is hidden from the next command on.",
        lambda policy, _: bool(policy.denied or policy.denied_globs),
    ),
    Limit(
        "devbox",
        "Only /data and cron are kept from being written: not grokmini's own settings and sessions, not .git/hooks. "
        "Keys and tokens are not hidden.",
        lambda policy, _: policy.write_all,
    ),
    Limit(
        "Not devbox",
        "/tmp is shared: commands read and change what other programs keep there, and those find what they leave.",
        lambda policy, _: bool(policy.temp) and not policy.write_all,
    ),
    Limit(
        "strict, without bubblewrap",
        "That a file exists, its name and size, and the list of processes can be seen everywhere.",
        lambda policy, mechanisms: not policy.read_all and not (mechanisms.bwrap or mechanisms.seatbelt),
    ),
    Limit(
        "Always",
        "Limits of memory and processes are per process or person; all memory and the disk only a cgroup bounds. A bug "
        "in the kernel can open everything.",
        lambda policy, _: True,
    ),
)


def limits_told(policy: Policy, mechanisms: Mechanisms) -> tuple[str, ...]:
    """What is not kept under a policy on a machine, a sentence or two each."""
    return tuple(limit.text for limit in LIMITS if limit.applies(policy, mechanisms))
