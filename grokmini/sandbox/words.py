"""A policy in one or two sentences: for the model, and for notices."""

from __future__ import annotations

from grokmini.sandbox.policy import Policy

_SHOWN = 4


def in_words(policy: Policy | None) -> str:
    """What commands and file tools may do."""
    if policy is None:
        return "Commands are not confined: they can do what the user can."
    reads = "read everything" if policy.read_all else f"read only {_some(policy.read_roots)}"
    writes = "write everywhere" if policy.write_all else f"write only in {_some(writable(policy))}"
    if policy.denied:
        reads += f" but {len(policy.denied)} hidden path{'s' if len(policy.denied) > 1 else ''}"
    if policy.write_all and policy.protected:
        writes += f" but {_some(policy.protected)}"
    network = "The network is open." if policy.network == "open" else "The network is blocked."
    return f"Commands and file tools can {reads} and {writes}. {network}"


def writable(policy: Policy) -> tuple[str, ...]:
    """The folders that can be written, caches left out."""
    return tuple(filter(None, (*policy.write_roots, *policy.temp, policy.scratch)))


def _some(paths: tuple[str, ...]) -> str:
    rest = len(paths) - _SHOWN
    return ", ".join(paths[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")
