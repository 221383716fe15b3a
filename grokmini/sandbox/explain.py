"""A policy in words: what it allows, what this machine keeps of it, what is in a command's way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from grokmini.sandbox.degraded import how_to_get, losses
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.plan import is_unconfined
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms

_SHOWN: Final = 12
CANNOT: Final = (
    "What is readable can be sent away while the network is open; only deny and a blocked network prevent that.",
    "What is left in the project (Makefile, package.json, .venv) runs later outside of the sandbox.",
)


def explain(policy: Policy, mechanisms: Mechanisms) -> tuple[str, ...]:
    """Every line."""
    return tuple(_lines(policy, mechanisms))


def _lines(policy: Policy, mechanisms: Mechanisms) -> Iterator[str]:
    yield f"profile   {policy.profile}"
    if is_unconfined(policy):
        yield "commands  may do whatever you can"
        return
    yield from _listed("read", ("everything",) if policy.read_all else policy.read_roots)
    yield from _listed("write", ("everything",) if policy.write_all else writable_roots(policy))
    yield from _listed("but not", policy.protected)
    yield from _listed("hidden", policy.denied)
    local = ", local sockets allowed" if policy.allow_unix else ""
    yield f"network   {policy.network}{local}"
    if policy.limits.data:
        yield f"memory    {policy.limits.data / 1024**3:.0f} GiB for one process, which `ulimit -d unlimited` lifts"
    lost = losses(policy, mechanisms)
    yield from _listed("not kept", lost)
    if lost:
        yield f"          {how_to_get(mechanisms)}"
    yield ""
    yield from CANNOT


def _listed(label: str, values: tuple[str, ...]) -> Iterator[str]:
    for index, value in enumerate(values[:_SHOWN]):
        yield f"{label if not index else '':<10}{value}"
    if len(values) > _SHOWN:
        yield f"{'':<10}and {len(values) - _SHOWN} more"
