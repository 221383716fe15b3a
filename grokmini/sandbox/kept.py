"""What of a policy the mechanisms of a machine keep: the one table from kinds of ways out to what closes them."""

from __future__ import annotations

import os

from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.text.below import is_below_any


def is_kept(kind: str, policy: Policy, has: Mechanisms, path: str = "") -> bool:
    """Whether ways of that kind are closed, if the policy wants it; `path` is the protected or denied one."""
    abi, mounts = has.landlock_abi, bool(has.bwrap or has.seatbelt)
    if kind in ("protected", "rename"):
        return mounts or (abi > 0 and not is_given_to_write(path, policy))
    if kind == "denied":
        return mounts or (abi > 0 and not is_given_to_read(path, policy))
    filtered = has.seccomp or bool(has.seatbelt)
    by_kind = {
        "always": True,
        "mounts": mounts,
        "shared": mounts,
        "truncation": mounts or abi >= 3,
        "devices": mounts or abi >= 5,
        "signals": mounts or abi >= 6,
        "limits": mounts or has.seccomp,
        "namespaces": mounts or has.seccomp,
        "filter": filtered,
        "unix": filtered,
        "network": filtered or has.bwrap_network,
        "tcp": filtered or has.bwrap_network or abi >= 4,
        "bind": filtered or abi >= 4,
        "abstract": abi >= 6 or (policy.network == "blocked" and (filtered or has.bwrap_network)),
    }
    return by_kind.get(kind, mounts or abi > 0)


def is_given_to_read(path: str, policy: Policy) -> bool:
    """Whether it lies in what the policy lets be read: Landlock knows no exceptions below that."""
    return policy.read_all or _is_below(path, (*policy.read_roots, *writable_roots(policy)))


def is_given_to_write(path: str, policy: Policy) -> bool:
    """Whether it lies in what the policy lets be written: Landlock knows no exceptions below that. Of everything it
    can leave out what is directly below the root.
    """
    return path.count("/") > 1 if policy.write_all else _is_below(path, writable_roots(policy))


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return is_below_any(os.path.realpath(path), map(os.path.realpath, roots))
