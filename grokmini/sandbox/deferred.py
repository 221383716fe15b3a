"""A runner that is made when it is first needed: a session that runs no command pays nothing for its sandbox."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from grokmini.sandbox.runner import CommandHandle, CommandSpec, Enforcement
from grokmini.sandbox.switch import ConfiningRunner

if TYPE_CHECKING:
    from grokmini.sandbox.policy import Policy

CHEAP: Final = 0.01
SHARE: Final = 0.1
"""A policy that takes more seconds than `CHEAP` of this processor is worked out at most this share of the time."""


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
        self._replaced = False
        self._outdated = True
        self._looked_at = self._cost = 0.0
        self._looking = threading.Lock()
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def policy(self) -> Policy | None:
        """The policy of the next command, worked out when that is due. Safe in any thread. Raises `SandboxError`."""
        with self._looking:
            if self._outdated:
                begin = time.thread_time()
                policy = self._resolve()
                self._cost, self._looked_at = time.thread_time() - begin, time.monotonic()
                self._take(policy)
        return self._made.policy if self._made is not None else self._policy

    def look_again(self) -> None:
        """Work the policy out anew when it is next asked for, unless that took long and has just been done."""
        since = time.monotonic() - self._looked_at
        if self._cost < CHEAP or since > self._cost / SHARE:
            self._outdated = True

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
        handle = await (await self._runner()).start(spec)
        if not spec.outside:
            self._outdated = False  # it has looked, right before
        return handle

    def expect(self, policy: Policy) -> None:
        """Use another policy from the next command on."""
        with self._looking:
            self._replaced = True
            self._take(policy)

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
                if self._replaced and self._policy is not None:
                    self._made.expect(self._policy)
            return self._made

    def _take(self, policy: Policy | None) -> None:
        self._policy = policy
        self._outdated = False
        if self._made is not None and policy is not None:
            self._made.expect(policy)
