"""The layers that a machine confines with, one by one: whether each works, and why not."""

from __future__ import annotations

from typing import NamedTuple

from grokmini.sandbox.probe import Mechanisms


class Layer(NamedTuple):
    """One layer. `detail` is how it works, or why it does not."""

    name: str
    works: bool
    detail: str


def layers(mechanisms: Mechanisms) -> tuple[Layer, ...]:
    """Every layer that there is on this system, as it was found by trying."""
    reasons = mechanisms.reasons
    if mechanisms.seatbelt or "seatbelt" in reasons:
        return (_layer("sandbox-exec", mechanisms.seatbelt or "", reasons.get("seatbelt", "")),)
    abi = mechanisms.landlock_abi
    works = "works"
    no_network = reasons.get("network namespace") or ("" if mechanisms.bwrap else "needs bubblewrap")
    return (
        _layer("Landlock", f"ABI {abi}" if abi else "", reasons.get("landlock", "")),
        _layer("system call filter", works if mechanisms.seccomp else "", reasons.get("seccomp", "")),
        _layer("bubblewrap", mechanisms.bwrap or "", reasons.get("bubblewrap", "")),
        _layer("network namespace", works if mechanisms.bwrap_network else "", no_network),
    )


def _layer(name: str, how: str, reason: str) -> Layer:
    return Layer(name, bool(how), how or reason or "does not work here")
