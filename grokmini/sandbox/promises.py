"""Which ways out a policy promises to close, as far as this machine has what it takes."""

from __future__ import annotations

import os
from typing import Final, Literal

from grokmini.sandbox.bwrap import is_below_any
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms

Promise = Literal["promised", "not promised", "lost here"]
_NETWORK: Final = ("tcp", "bind", "network", "unix")


def promise_of(kind: str, policy: Policy, has: Mechanisms, cwd: str, path: str = "") -> Promise:
    """What holds for a way of that kind; `path` is the protected or denied one that it is about."""
    if not _is_wanted(kind, policy, cwd):
        return "not promised"
    if kind == "shared" and not has.bwrap:
        return "not promised"
    return "promised" if _is_kept(kind, policy, has, path) else "lost here"


def _is_wanted(kind: str, policy: Policy, cwd: str) -> bool:
    if kind in ("files", "truncation", "mounts"):
        return not policy.write_all
    if kind == "cwd":
        return not policy.write_all and not _writable(cwd, policy)
    if kind == "hidden":
        return not policy.read_all
    if kind == "unix":
        return policy.network == "blocked" and not policy.allow_unix
    return policy.network == "blocked" if kind in _NETWORK else True


def _is_kept(kind: str, policy: Policy, has: Mechanisms, path: str) -> bool:
    abi, mounts = has.landlock_abi, bool(has.bwrap or has.seatbelt)
    if kind in ("protected", "rename"):
        return mounts or (abi > 0 and not policy.write_all and not _writable(path, policy))
    if kind == "denied":
        roots = map(os.path.realpath, (*policy.read_roots, *writable_roots(policy)))
        hidden = not policy.read_all and not is_below_any(os.path.realpath(path), roots)
        return mounts or (abi > 0 and hidden)
    filtered = has.seccomp or bool(has.seatbelt)
    by_kind = {
        "always": True,
        "mounts": mounts,
        "shared": mounts,
        "truncation": mounts or abi >= 3,
        "signals": mounts or abi >= 6,
        "limits": mounts or has.seccomp,
        "namespaces": mounts or has.seccomp,
        "filter": filtered,
        "unix": filtered,
        "network": filtered or has.bwrap_network,
        "tcp": filtered or has.bwrap_network or abi >= 4,
        "bind": filtered or abi >= 4,
        "abstract": abi >= 6 or (filtered and policy.network == "blocked"),
    }
    return by_kind.get(kind, mounts or abi > 0)


def _writable(path: str, policy: Policy) -> bool:
    return is_below_any(os.path.realpath(path), map(os.path.realpath, writable_roots(policy)))
