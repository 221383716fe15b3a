"""Which ways out a policy promises to close, as far as this machine has what it takes."""

from __future__ import annotations

from typing import Final, Literal

from grokmini.sandbox.kept import is_given_to_write, is_kept
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
    return "promised" if is_kept(kind, policy, has, path) else "lost here"


def _is_wanted(kind: str, policy: Policy, cwd: str) -> bool:
    if kind in ("files", "truncation", "mounts"):
        return not policy.write_all
    if kind == "cwd":
        return not policy.write_all and not is_given_to_write(cwd, policy)
    if kind == "hidden":
        return not policy.read_all
    if kind == "unix":
        return policy.network == "blocked" and not policy.allow_unix
    return policy.network == "blocked" if kind in _NETWORK else True
