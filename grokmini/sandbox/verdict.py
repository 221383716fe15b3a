"""Whether what a machine keeps of a policy is enough: a profile that a person named is kept whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.degraded import how_to_get, parted, remarks
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms


def check_losses(policy: Policy, lost: tuple[str, ...], mechanisms: Mechanisms, *, strict: bool) -> None:
    """Judge what this machine cannot keep. Raises `SandboxError`."""
    if lost and strict:
        raise SandboxError(
            f"the sandbox profile {policy.profile} cannot be kept here; not enforced: {'; '.join(parted(lost)[0])}",
            how_to_get(mechanisms),
        )


def check_proof(holes: tuple[str, ...], *, strict: bool) -> None:
    """Judge what a confined process could do although it must not (an attempt and a path each).

    Raises `SandboxError`, always for one that could not be confined at all or sees another folder than was meant:
    nothing may be run like that.
    """
    if sees_others(holes):
        raise replaced()
    if any(hole.startswith("confine") for hole in holes) or (holes and strict):
        raise SandboxError(
            f"the sandbox does not hold: {'; '.join(holes)}",
            "Report this; --sandbox off goes on without it.",
        )


def sees_others(holes: Iterable[str]) -> bool:
    """Whether a confined process sees another folder than was meant, or none."""
    return any(hole.startswith("not ") for hole in holes)


class ReplacedError(SandboxError):
    """What a sandbox was to be made of changed while it was made."""


def replaced() -> ReplacedError:
    """A folder was exchanged for another one at that moment."""
    return ReplacedError("a folder was replaced while the sandbox was set up", "Try again.")


def further_losses(policy: Policy, mechanisms: Mechanisms, holes: tuple[str, ...]) -> tuple[str, ...]:
    """What is told as lost besides, once the proof has been made."""
    failed = tuple(f"the proof failed: commands can {hole}" for hole in holes)
    return failed + remarks(policy, mechanisms, as_root=os.geteuid() == 0)
