"""What the launcher is told: a policy, as this machine's mechanisms can carry it out, in plain data."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from grokmini.sandbox.landlock import landlock_plan, writable_roots
from grokmini.sandbox.limits import OOM_SCORE, counts_by_namespace, limits_of
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.seccomp import SocketMode, filter_program, packed
from grokmini.text.below import is_below_any


def is_unconfined(policy: Policy) -> bool:
    """Whether the policy allows everything, so that nothing is taken from commands but what hygiene asks for."""
    free = policy.write_all and policy.read_all and policy.network == "open"
    return free and not policy.protected and not policy.denied


def socket_mode(policy: Policy) -> SocketMode:
    """Which sockets commands may open."""
    if policy.network == "open":
        return "open"
    return "unix" if policy.allow_unix else "pairs"


def launcher_plan(
    policy: Policy, mechanisms: Mechanisms, *, mounted: bool, held: Mapping[str, int] | None = None
) -> dict[str, Any]:
    """The plan; `mounted` tells whether bubblewrap is around the launcher. `held` are descriptors, which it inherits,
    of the writable roots: its rules are for these, whatever their paths lead to by then, and for no other root.
    """
    free = is_unconfined(policy)
    landlock = program = None
    if not free and mechanisms.landlock_abi:
        wanted = landlock_plan(policy, mechanisms.landlock_abi, private_devices=mounted)
        rules = _held_rules(wanted.rules, policy, held or {})
        landlock = {"attribute": wanted.attribute, "rules": rules}
    if not free and mechanisms.seccomp:
        program = packed(filter_program(platform.machine(), socket_mode(policy)))
    return {
        "landlock": landlock,
        "seccomp": program,
        "drop_privileges": not free,
        "limits": limits_of(policy.limits, alone=mounted and counts_by_namespace(os.uname().release)),
        "oom_score_adj": OOM_SCORE,
        "proof": [] if free else proof_checks(policy, mounted=mounted, filtered=program is not None),
    }


def _held_rules(
    rules: Iterable[tuple[str, int]], policy: Policy, held: Mapping[str, int]
) -> tuple[tuple[str, int], ...]:
    roots = () if policy.write_all else writable_roots(policy)
    return tuple(
        (f"/proc/self/fd/{held[path]}" if path in held else path, rights)
        for path, rights in rules
        if path in held or path not in roots
    )


def proof_checks(policy: Policy, *, mounted: bool, filtered: bool) -> list[tuple[str, str]]:
    """What a child confined like a command tries at the start and must fail at: an attempt and a path each."""
    checks: list[tuple[str, str]] = []
    if not policy.write_all:
        roots = writable_roots(policy)
        outside = dict.fromkeys(("/", *(str(Path(root).parent) for root in roots)))
        checks += [("create in", path) for path in outside if not is_below_any(path, roots)]
    if mounted or policy.write_all:
        checks += [("write", path) for path in policy.protected if os.path.exists(path)]
    if mounted:
        checks += [("read", path) for path in policy.denied]
    if policy.network == "blocked" and filtered:
        checks.append(("socket", ""))
    return checks
