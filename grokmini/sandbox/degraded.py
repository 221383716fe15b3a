"""What a policy promises and this machine cannot keep, in words: for the notice, the status line and the refusal."""

from __future__ import annotations

from collections.abc import Iterator

from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms

ONLY_MOUNTS = "chmod, chown, utime and setxattr outside the writable folders"


def losses(policy: Policy, mechanisms: Mechanisms) -> tuple[str, ...]:
    """What is not enforced here although the policy says so; nothing for a policy that allows everything."""
    return tuple(_losses(policy, mechanisms))


def remarks(policy: Policy, mechanisms: Mechanisms, *, as_root: bool) -> tuple[str, ...]:
    """What no mechanism of ours can bound here, whatever is installed."""
    if mechanisms.seatbelt:
        return (
            "processes that detach themselves twice: they can outlive their command",
            "the number of processes and their memory: macOS bounds them for you as a whole",
            "pseudo-terminals: commands get none",
            "all of it on macOS is by design, tried at the start and otherwise untested",
        )
    if as_root and policy.limits.nproc:
        return ("the number of processes: the kernel sets no limit for root, only a cgroup would",)
    return ()


def _losses(policy: Policy, mechanisms: Mechanisms) -> Iterator[str]:
    if mechanisms.seatbelt:
        return
    if "seatbelt" in mechanisms.reasons:
        yield "everything: commands can do what you can (sandbox-exec does not work)"
        return
    if not mechanisms.landlock_abi and not mechanisms.bwrap:
        yield "files: commands can write wherever you can (neither Landlock nor bubblewrap works)"
    if not mechanisms.bwrap:
        yield from _without_mounts(policy)
    yield from _without_landlock(policy, mechanisms)
    if not mechanisms.seccomp:
        yield "system calls: io_uring, namespaces, keyrings and other processes' limits are open"
    if policy.network == "blocked":
        yield from _open_network(mechanisms)


def _without_mounts(policy: Policy) -> Iterator[str]:
    if policy.denied:
        yield f"denied paths: {_some(policy.denied)} can be read"
    if not policy.write_all:
        yield ONLY_MOUNTS
        yield "files left in /dev/shm"
        yield "pseudo-terminals: commands get none"
    if policy.protected:
        yield f"protected paths: {_some(policy.protected)} can be written"


def _without_landlock(policy: Policy, mechanisms: Mechanisms) -> Iterator[str]:
    abi = mechanisms.landlock_abi
    if abi < 6 and not mechanisms.bwrap:
        yield "signals: commands can signal grokmini and your other processes"
    if abi < 6 and policy.network == "open":
        yield "abstract sockets of other programs can be reached"
    if 0 < abi < 3 and not mechanisms.bwrap:
        yield "files outside can be truncated"
    if not abi and not mechanisms.bwrap:
        yield "grokmini's own memory and environment can be read"


def _open_network(mechanisms: Mechanisms) -> Iterator[str]:
    if not mechanisms.seccomp and not mechanisms.bwrap_network:
        tcp = " but for TCP" if mechanisms.landlock_abi >= 4 else ""
        yield f"the network: it is open to commands{tcp}"


def _some(paths: tuple[str, ...]) -> str:
    rest = len(paths) - 3
    return ", ".join(paths[:3]) + (f" and {rest} more" if rest > 0 else "")


def remedy(mechanisms: Mechanisms) -> str:
    """What would bring back what is lost, one sentence."""
    if mechanisms.bwrap:
        return "A newer kernel has what is missing."
    if "seatbelt" in mechanisms.reasons:
        return f"sandbox-exec fails here: {mechanisms.reasons['seatbelt']}."
    reason = mechanisms.reasons.get("bubblewrap", "")
    if "not installed" in reason:
        return "To get it: `apt install bubblewrap`."
    return f"bubblewrap fails here: {reason}."


def how_to_get(mechanisms: Mechanisms) -> str:
    """The same for somebody who named the profile: what to do, or how to go on without."""
    if "not installed" in mechanisms.reasons.get("bubblewrap", "") and not mechanisms.bwrap:
        return "Install bubblewrap (`apt install bubblewrap`), or go on without by --sandbox-best-effort."
    return f"{remedy(mechanisms)} --sandbox-best-effort goes on without."
