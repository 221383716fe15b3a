"""The runner that confines: each command is handed to a child that a launcher confined ahead of time.

One launcher a session (one more for commands that a person let out). A launcher that died is replaced by one with
the same policy; what ran in it is told as lost, and nothing is ever run with less confinement instead.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Final

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.confined import SandboxedCommand
from grokmini.sandbox.enclosure import Enclosure, Opener
from grokmini.sandbox.git_care import GitCare
from grokmini.sandbox.launch import LauncherLostError, hand_over
from grokmini.sandbox.pipe import ends, side_channel
from grokmini.sandbox.plan import is_unconfined
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.policy_runner import PolicyRunner
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.runner import CommandSpec, Enforcement

CLOSE_LIMIT: Final = 5.0
"""Seconds that supervisors get to end their commands before the launcher above them is ended."""
TRIES: Final = 3
"""How often a launcher that dies before it took a command is replaced for it."""


class SandboxedRunner(PolicyRunner):
    """Starts commands as the policy says (a `CommandRunner`).

    `rescan` is asked before each command for the policy as it is now (denied globs may match anew); it is called
    in a thread. `mechanisms` are found by trying when not given. With `best_effort` an explicit policy that this
    machine cannot keep whole is kept as far as it goes, instead of refused. `on_proof` is called after each start of
    a launcher, when its proof has been judged.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        best_effort: bool = False,
        mechanisms: Mechanisms | None = None,
        rescan: Callable[[], Policy] | None = None,
        on_proof: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(policy, rescan)
        self._on_proof = on_proof
        self._git = GitCare()
        self._opener = Opener(self._git, mechanisms, best_effort=best_effort)
        self._inside: Enclosure | None = None
        self._outside: Enclosure | None = None
        self._retired: set[Enclosure] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def _proved(self) -> Enforcement | None:
        """What the proof at the launcher's start showed."""
        return self._inside.enforcement if self._inside is not None else None

    @property
    def launcher_pid(self) -> int | None:
        """The process of the launcher in use, None before the first command."""
        return self._inside.launcher.pid if self._inside is not None else None

    @property
    def idle(self) -> bool:
        """Whether nothing runs."""
        return not any(enclosure.busy for enclosure in self._enclosures)

    @property
    def _enclosures(self) -> tuple[Enclosure, ...]:
        return (*self._retired, *filter(None, (self._inside, self._outside)))

    async def prepare(self) -> Enforcement:
        """What is enforced; starts the launcher unless one is there. Raises `SandboxError`."""
        enclosure = self._inside
        if enclosure is None or enclosure.launcher.lost:
            enclosure = await self._inside_now()
        return enclosure.enforcement

    async def start(self, spec: CommandSpec) -> SandboxedCommand:
        """Start a command in a session and group of its own, without a terminal, with empty input.

        Raises `OSError` when the program or the folder is not there, `SandboxError` when it cannot be confined.
        """
        for _ in range(TRIES):
            if self._closed:
                raise RuntimeError("the runner is closed")
            let_out = spec.outside and not is_unconfined(self._policy)
            enclosure = await (self._outside_now() if let_out else self._inside_now())
            with suppress(LauncherLostError):
                return await self._start_in(enclosure, spec)
        raise SandboxError(
            "the launcher of the sandbox dies again and again", "Nothing was run. Is memory short? Try again."
        )

    async def close(self) -> None:
        """Kill what still runs and wait until it is gone."""
        self._closed = True
        async with self._lock:
            enclosures = self._enclosures
            self._inside = self._outside = None
            self._retired.clear()  # so that the end of its last command closes none of them a second time
        commands = [command for enclosure in enclosures for command in enclosure.commands]
        for command in commands:
            command.abandon()
        await _ended(commands, CLOSE_LIMIT)
        for enclosure in enclosures:
            await enclosure.close()
        await _ended(commands, CLOSE_LIMIT)
        for command in commands:
            await command.settled()
        while self._closing:
            await asyncio.wait(self._closing)

    def kill_now(self) -> None:
        """Kill everything that runs, without waiting: for a signal handler that leaves right after.

        Supervisors do it; the end of this process does the same.
        """
        self._closed = True
        for enclosure in self._enclosures:
            for command in tuple(enclosure.commands):
                command.kill_now()

    async def _inside_now(self) -> Enclosure:
        """The enclosure for confined commands, made or renewed when that is needed."""
        async with self._lock:
            policy = await self._policy_now()
            current = self._inside
            alive = current is not None and not current.launcher.lost
            if current is not None and alive and current.policy == policy and not current.outdated:
                return current
            fresh = await self._opener.open(policy, later=current is not None)
            if current is not None:
                self._retire(current)
            self._inside = fresh
            self._on_proof()
            return fresh

    async def _outside_now(self) -> Enclosure:
        """The enclosure for commands that the person let out."""
        async with self._lock:
            if self._outside is not None and self._outside.launcher.lost:
                self._retire(self._outside)
                self._outside = None
            if self._outside is None:
                everything = Policy(profile="off", write_all=True, limits=self._policy.limits)
                self._outside = await self._opener.open(everything, later=False)
            return self._outside

    def _tell_settings(self, enclosure: Enclosure) -> None:
        """Say what a command left for git to run."""
        current = self._inside
        if current is None or self._closed or not self._git.look(enclosure.policy):
            return
        notices = dict.fromkeys((*current.enforcement.notices, *self._git.notices))
        current.enforcement = replace(current.enforcement, notices=tuple(notices))
        self._on_proof()

    def _retire(self, enclosure: Enclosure) -> None:
        """Let a launcher go as soon as nothing runs in it."""
        if enclosure.busy:
            self._retired.add(enclosure)
        else:
            self._retired.discard(enclosure)
            task = asyncio.create_task(enclosure.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _start_in(self, enclosure: Enclosure, spec: CommandSpec) -> SandboxedCommand:
        enclosure.starting += 1
        try:
            return await self._hand_over(enclosure, spec)
        finally:
            enclosure.starting -= 1
            if enclosure in self._retired:
                self._retire(enclosure)

    async def _hand_over(self, enclosure: Enclosure, spec: CommandSpec) -> SandboxedCommand:
        spare = await enclosure.launcher.take_spare()
        with ExitStack() as always, ExitStack() as unless_started:
            unless_started.callback(spare.close)
            output, writing = ends(os.pipe(), unless_started, always)
            side, fds = None, [writing]
            if spec.side_channel:
                side, writing = ends(side_channel(), unless_started, always)
                fds.append(writing)
            pid = await hand_over(spare, spec, fds)
            spare.channel.close()
            stuck = enclosure.launcher.end_now
            command = SandboxedCommand(pid, spare.job, output, side, on_end=lambda: ended(), on_stuck=stuck)
            unless_started.pop_all()

        def ended() -> None:
            enclosure.commands.discard(command)
            if not spec.outside:
                self._git.tidy(enclosure.folders)
                self._tell_settings(enclosure)
            if enclosure in self._retired:
                self._retire(enclosure)

        enclosure.commands.add(command)
        if self._closed:
            command.kill_now()
        return command


async def _ended(commands: list[SandboxedCommand], seconds: float) -> None:
    """Wait for the end of all, at most that long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            for command in commands:
                await command.wait()
