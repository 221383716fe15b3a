"""What the runners that confine have in common: the policy of the next command, and what is claimed of it."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable

from grokmini.sandbox.plan import is_unconfined
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.roots import usable
from grokmini.sandbox.runner import UNCONFINED, Enforcement, unproved


class PolicyRunner(ABC):
    """Knows what the next command may do. `rescan` is asked before each command but the first; in a thread."""

    def __init__(self, policy: Policy, rescan: Callable[[], Policy] | None) -> None:
        self._policy = policy
        self._rescan = rescan

    @property
    @abstractmethod
    def _proved(self) -> Enforcement | None:
        """What the last proof showed, None before the first."""

    @property
    def enforcement(self) -> Enforcement:
        """What the last proof showed; before the first nothing is claimed."""
        if is_unconfined(self._policy):
            return UNCONFINED
        return self._proved or unproved(self._policy.profile)

    @property
    def policy(self) -> Policy | None:
        """The policy of the next command, None where it allows everything."""
        return None if is_unconfined(self._policy) else self._policy

    def expect(self, policy: Policy) -> None:
        """Use another policy from the next command on; what runs goes on under its own."""
        self._policy = policy

    async def _policy_now(self) -> Policy:
        """The policy as it can be used now. Raises `SandboxError` when no command can be run under it."""
        if self._rescan is not None and self._proved is not None:
            before, found = self._policy, await asyncio.to_thread(self._rescan)
            if self._policy is before:  # else another was expected meanwhile
                self._policy = found
        return usable(self._policy)
