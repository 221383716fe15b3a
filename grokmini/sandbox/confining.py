"""Which runner keeps a policy on this system, one that allows everything too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from grokmini.sandbox.policy import Policy

if TYPE_CHECKING:
    from grokmini.sandbox.client import SandboxedRunner
    from grokmini.sandbox.probe import Mechanisms
    from grokmini.sandbox.seatbelt_runner import SeatbeltRunner


def confining_runner(
    policy: Policy,
    *,
    best_effort: bool = False,
    mechanisms: Mechanisms | None = None,
    rescan: Callable[[], Policy] | None = None,
    on_proof: Callable[[], None] = lambda: None,
    platform: str = sys.platform,
) -> SandboxedRunner | SeatbeltRunner:
    """A runner that keeps the policy. The arguments mean what they do for `SandboxedRunner`."""
    if not platform.startswith("linux"):
        from grokmini.sandbox.seatbelt_runner import SeatbeltRunner

        return SeatbeltRunner(
            policy, best_effort=best_effort, mechanisms=mechanisms, rescan=rescan, on_proof=on_proof
        )
    from grokmini.sandbox.client import SandboxedRunner

    return SandboxedRunner(
        policy, best_effort=best_effort, mechanisms=mechanisms, rescan=rescan, on_proof=on_proof
    )
