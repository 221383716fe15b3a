"""The runner of a whole session: the one in force behind it can be replaced while commands run."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from grokmini.sandbox.runner import CommandHandle, CommandRunner, CommandSpec, Enforcement

if TYPE_CHECKING:
    from grokmini.sandbox.policy import Policy


class SessionRunner(CommandRunner, Protocol):
    """A runner that can be replaced by another one."""

    @property
    def idle(self) -> bool:
        """Whether nothing runs."""

    def kill_now(self) -> None:
        """Kill everything that runs, without waiting: for a signal handler that leaves right after."""


class ConfiningRunner(SessionRunner, Protocol):
    """One that confines, and can be given another policy."""

    def expect(self, policy: Policy) -> None:
        """Use another policy from the next command on; what runs goes on under its own."""


R = TypeVar("R", bound=SessionRunner)


class SwitchRunner(Generic[R]):
    """A `CommandRunner` that gives each command to the runner then in force.

    What runs goes on where it was started; a former runner is closed when nothing of it runs any more.
    """

    def __init__(self, runner: R) -> None:
        self._current = runner
        self._coming: R | None = None
        self._retired: list[R] = []
        self._starting: Counter[R] = Counter()
        self._closing: set[asyncio.Task[None]] = set()
        self._changing = asyncio.Lock()

    @property
    def current(self) -> R:
        """The runner in force."""
        return self._current

    @property
    def policy(self) -> Policy | None:
        """The policy of the next command: while a change is under way, that of the runner to come."""
        return (self._coming or self._current).policy

    @property
    def enforcement(self) -> Enforcement:
        """What is known to hold for the commands of the runner in force."""
        return self._current.enforcement

    async def prepare(self) -> Enforcement:
        """What is really enforced, see `CommandRunner.prepare`; waits for a change that is under way."""
        async with self._in_force() as current:
            return await current.prepare()

    async def start(self, spec: CommandSpec) -> CommandHandle:
        """Start a command in the runner in force; waits for a change that is under way."""
        async with self._in_force() as current:
            return await current.start(spec)

    async def change_to(self, runner: R) -> Enforcement:
        """Use another runner from the next command on, once it has proved itself; commands wait for it.

        Raises `SandboxError` when it cannot keep its policy: it is closed then, and the former one goes on.
        """
        async with self._changing:
            self._coming = former = runner
            try:
                enforcement = await runner.prepare()
                former, self._current = self._current, runner
            finally:
                self._coming = None
                self._retired.append(former)
                self._let_go()
        return enforcement

    async def close(self) -> None:
        """Kill what still runs, in former runners too, and release everything."""
        async with self._changing:
            retired, self._retired = self._retired, []
        for runner in (*retired, self._current):
            await runner.close()
        while self._closing:
            await asyncio.wait(self._closing)

    def kill_now(self) -> None:
        """Kill everything that runs, without waiting: for a signal handler that leaves right after."""
        for runner in (*self._retired, self._current, *filter(None, (self._coming,))):
            runner.kill_now()

    @asynccontextmanager
    async def _in_force(self) -> AsyncIterator[R]:
        """The runner in force, which is not closed inside of this, whatever changes meanwhile."""
        async with self._changing:
            current = self._current
            self._starting[current] += 1
        try:
            yield current
        finally:
            self._starting[current] -= 1
            self._let_go()

    def _let_go(self) -> None:
        """Close the former runners in which nothing runs."""
        for runner in [one for one in self._retired if one.idle and not self._starting[one]]:
            self._retired.remove(runner)
            del self._starting[runner]
            task = asyncio.create_task(runner.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
