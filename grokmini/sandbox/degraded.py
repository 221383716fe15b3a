"""What a policy promises and this machine cannot keep, in words: for the notice, the status line and the refusal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from grokmini.sandbox.kept import is_kept
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.text.below import is_below_any
from grokmini.text.some import some_of

NO_TERMINALS: Final = "pseudo-terminals: commands get none"
DETACHED: Final = "processes that detach themselves twice: they can outlive their command"
UNTESTED: Final = "all of it on macOS is by design, tried at the start and otherwise untested"
UNCOUNTED: Final = "the number of processes: the kernel sets no limit for root, only a cgroup would"
NO_MOVES: Final = "files cannot be renamed into another folder, only copied: this kernel's Landlock is too old"
_NO_PROMISE: Final = frozenset({NO_TERMINALS, DETACHED, UNTESTED, UNCOUNTED, NO_MOVES})
"""What is told as lost and opens nothing that a profile promises to keep shut."""

_SHOWN: Final = 3
_WITHOUT: Final = {
    NO_TERMINALS: "no pseudo-terminals",
    NO_MOVES: "no renaming into another folder, only copying, since this kernel's Landlock is too old",
}
_APPARMOR: Final = "bwrap-userns-restrict"
"""The AppArmor profile that lets bubblewrap make namespaces and nothing else; Ubuntu has it, not in use in 24.04."""

DENIED: Final = "denied paths"
ONLY_MOUNTS = "chmod, chown, utime and setxattr outside the writable folders"


def losses(policy: Policy, mechanisms: Mechanisms) -> tuple[str, ...]:
    """What is not enforced here although the policy says so; nothing for a policy that allows everything."""
    return tuple(_losses(policy, mechanisms))


def breaks_promises(lost: Iterable[str]) -> bool:
    """Whether among what is told as lost is something that the profile promises to keep."""
    return not _NO_PROMISE.issuperset(lost)


def parted(lost: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is not enforced of what is told as lost; and what commands have to do without instead, as ends of "they
    have …".
    """
    told = tuple(lost)
    return (
        tuple(text for text in told if text not in _WITHOUT),
        tuple(_WITHOUT[text] for text in told if text in _WITHOUT),
    )


def label_in_part(profile: str, mechanisms: Mechanisms) -> str:
    """For the status line, where something is lost: the profile, and what is missing in a word or two."""
    missing = {
        "no bubblewrap": not mechanisms.bwrap,
        "no Landlock": not mechanisms.landlock_abi,
        "old Landlock": 0 < mechanisms.landlock_abi < 6,
        "no call filter": not mechanisms.seccomp,
    }
    return ", ".join((profile, *(word for word, is_so in missing.items() if is_so)))


def remarks(policy: Policy, mechanisms: Mechanisms, *, as_root: bool) -> tuple[str, ...]:
    """What no mechanism of ours can bound here, whatever is installed."""
    if mechanisms.seatbelt:
        return (DETACHED, NO_TERMINALS, UNTESTED)
    told = []
    if as_root and policy.limits.nproc:
        told.append(UNCOUNTED)
    if mechanisms.landlock_abi == 1:
        told.append(NO_MOVES)
    return tuple(told)


def _losses(policy: Policy, mechanisms: Mechanisms) -> Iterator[str]:
    if mechanisms.seatbelt:
        return
    if "seatbelt" in mechanisms.reasons:
        yield "everything: commands can do what you can (sandbox-exec does not work)"
        return
    if not is_kept("files", policy, mechanisms):
        yield "files: commands can write wherever you can (neither Landlock nor bubblewrap works)"
    if not mechanisms.bwrap:
        yield from _without_mounts(policy, mechanisms)
    yield from _without_landlock(policy, mechanisms)
    if not is_kept("filter", policy, mechanisms):
        yield "system calls: io_uring, namespaces, keyrings and other processes' limits are open"
    if policy.network == "blocked" and not is_kept("network", policy, mechanisms):
        tcp = " but for TCP" if is_kept("tcp", policy, mechanisms) else ""
        yield f"the network: it is open to commands{tcp}"


def _without_mounts(policy: Policy, mechanisms: Mechanisms) -> Iterator[str]:
    denied = tuple(path for path in policy.denied if not is_kept("denied", policy, mechanisms, path))
    if denied:
        yield f"{DENIED}: {some_of(denied, _SHOWN)} can be read"
    if not policy.write_all:
        yield ONLY_MOUNTS
        yield "files left in /dev/shm"
        yield NO_TERMINALS
    protected = tuple(path for path in policy.protected if not is_kept("protected", policy, mechanisms, path))
    if protected:
        yield f"protected paths: {some_of(protected, _SHOWN)} can be written"
    if movable := tuple(_movable(policy)):
        yield (
            f"folders that lie in other writable ones: {some_of(movable, _SHOWN)} can be moved away by a command "
            "(what is then put in their place as a link is not followed)"
        )
    if policy.network == "blocked" and policy.allow_unix and mechanisms.landlock_abi < 9:
        yield "local sockets: those of other programs can be reached too"


def _movable(policy: Policy) -> Iterator[str]:
    """The folders to work in that commands can move, as they can write the one above."""
    roots = () if policy.write_all else writable_roots(policy)
    for path in policy.write_roots if roots else ():
        if is_below_any(path, (root for root in roots if root != path)):
            yield path


def _without_landlock(policy: Policy, mechanisms: Mechanisms) -> Iterator[str]:
    def is_lost(kind: str) -> bool:
        return not is_kept(kind, policy, mechanisms)

    if is_lost("signals"):
        yield "signals: commands can signal grokmini and your other processes"
    if is_lost("abstract") and policy.network == "open":
        yield "abstract sockets of other programs can be reached"
    if is_lost("truncation") and not is_lost("files"):
        yield "files outside can be truncated"
    if is_lost("devices") and not is_lost("files") and not policy.write_all:
        yield "devices can be controlled (ioctl) where you may"
    if is_lost("agent"):
        yield "grokmini's own memory and environment can be read"


def remedy(mechanisms: Mechanisms) -> str:
    """What would bring back what is lost, one sentence."""
    if mechanisms.bwrap:
        return "A newer kernel has what is missing."
    if "seatbelt" in mechanisms.reasons:
        return f"sandbox-exec fails here: {mechanisms.reasons['seatbelt']}."
    reason = mechanisms.reasons.get("bubblewrap", "")
    if "not installed" in reason:
        return "To get it: `apt install bubblewrap`."
    if "AppArmor" in mechanisms.reasons:
        return (
            f"AppArmor keeps bubblewrap from working here ({reason}). To let it: `sudo apt install apparmor-profiles`, "
            f"`sudo cp /usr/share/apparmor/extra-profiles/{_APPARMOR} /etc/apparmor.d/`, "
            f"`sudo apparmor_parser -r /etc/apparmor.d/{_APPARMOR}`."
        )
    return (
        f"bubblewrap fails here: {reason}. It needs user namespaces; where the kernel's settings or a container forbid "
        "them, whoever runs it can allow them."
    )


def how_to_get(mechanisms: Mechanisms) -> str:
    """The same for somebody who named the profile: what to do, or how to go on without."""
    if "not installed" in mechanisms.reasons.get("bubblewrap", "") and not mechanisms.bwrap:
        return "Install bubblewrap (`apt install bubblewrap`), or start with --sandbox-best-effort to go on without it."
    return f"{remedy(mechanisms)} A start with --sandbox-best-effort goes on without it."
