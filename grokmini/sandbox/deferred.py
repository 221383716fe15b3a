"""A runner that is made when it is first needed: a session that runs no command pays nothing for its sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from grokmini.sandbox.runner import CommandHandle, CommandSpec, Enforcement
from grokmini.sandbox.switch import ConfiningRunner

if TYPE_CHECKING:
    from grokmini.sandbox.policy import Policy


class DeferredRunner:
    """Stands for the runner that `make` gives (called in a thread, once). Until then `resolve` gives the policy,
    None where nothing is to be confined, and `known` is what is known to hold.
    """

    def __init__(
        self, known: Enforcement, resolve: Callable[[], Policy | None], make: Callable[[], ConfiningRunner]
    ) -> None:
        self._known = known
        self._resolve = resolve
        self._make = make
        self._made: ConfiningRunner | None = None
        self._policy: Policy | None = None
        self._expected: Policy | None = None
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def policy(self) -> Policy | None:
        """The policy of the next command. Safe in any thread."""
        if self._made is not None:
            return self._made.policy
        if self._policy is None:
            self._policy = self._resolve()
        return self._policy

    @property
    def enforcement(self) -> Enforcement:
        """What is enforced; before the proof nothing is claimed."""
        return self._made.enforcement if self._made is not None else self._known

    @property
    def idle(self) -> bool:
        """Whether nothing runs."""
        return self._made is None or self._made.idle

    async def prepare(self) -> Enforcement:
        """What is really enforced. Raises `SandboxError`."""
        return await (await self._runner()).prepare()

    async def start(self, spec: CommandSpec) -> CommandHandle:
        """Start a command. Raises `SandboxError`, or `OSError` when the program or folder is not there."""
        return await (await self._runner()).start(spec)

    def expect(self, policy: Policy) -> None:
        """Use another policy from the next command on."""
        self._policy = self._expected = policy
        if self._made is not None:
            self._made.expect(policy)

    async def close(self) -> None:
        """Kill what still runs and release everything."""
        self._closed = True
        async with self._lock:
            if self._made is not None:
                await self._made.close()

    def kill_now(self) -> None:
        """Kill everything that runs, without waiting."""
        self._closed = True
        if self._made is not None:
            self._made.kill_now()

    async def _runner(self) -> ConfiningRunner:
        async with self._lock:
            if self._closed:
                raise RuntimeError("the runner is closed")
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
                if self._expected is not None:
                    self._made.expect(self._expected)
            return self._made
