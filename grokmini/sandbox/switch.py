"""The runner of a whole session: the one in force behind it can be replaced while commands run."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Protocol

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


class SwitchRunner:
    """A `CommandRunner` that gives each command to the runner then in force.

    What runs goes on where it was started; a former runner is closed when nothing of it runs any more.
    """

    def __init__(self, runner: SessionRunner) -> None:
        self._current = runner
        self._coming: SessionRunner | None = None
        self._retired: list[SessionRunner] = []
        self._starting: Counter[SessionRunner] = Counter()
        self._closing: set[asyncio.Task[None]] = set()
        self._changing = asyncio.Lock()

    @property
    def current(self) -> SessionRunner:
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
        async with self._changing:
            current = self._current
            self._starting[current] += 1
        try:
            return await current.prepare()
        finally:
            self._started(current)

    async def start(self, spec: CommandSpec) -> CommandHandle:
        """Start a command in the runner in force; waits for a change that is under way."""
        async with self._changing:
            current = self._current
            self._starting[current] += 1
        try:
            return await current.start(spec)
        finally:
            self._started(current)
            self._let_go()

    async def change_to(self, runner: SessionRunner) -> Enforcement:
        """Use another runner from the next command on, once it has proved itself; commands wait for it.

        Raises `SandboxError` when it cannot keep its policy: it is closed then, and the former one goes on.
        """
        async with self._changing:
            self._coming = runner
            try:
                enforcement = await runner.prepare()
            except BaseException:
                self._retired.append(runner)
                raise
            else:
                self._use(runner)
            finally:
                self._coming = None
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

    def _use(self, runner: SessionRunner) -> None:
        """From the next command on; what runs goes on where it is."""
        if runner is not self._current:
            self._retired.append(self._current)
            self._current = runner
            self._let_go()

    def _started(self, runner: SessionRunner) -> None:
        self._starting[runner] -= 1
        if not self._starting[runner]:
            del self._starting[runner]

    def _let_go(self) -> None:
        """Close the former runners in which nothing runs."""
        for runner in [one for one in self._retired if one.idle and one not in self._starting]:
            self._retired.remove(runner)
            task = asyncio.create_task(runner.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
