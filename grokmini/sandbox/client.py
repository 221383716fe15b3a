"""The runner that confines: each command is handed to a child that a launcher confined ahead of time.

One launcher a session (one more for commands that a person let out). A launcher that died is replaced by one with
the same policy; what ran in it is told as lost, and nothing is ever run with less confinement instead.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.anchors import Anchors
from grokmini.sandbox.bwrap import Mounts, are_below, bwrap_words, mounts_of
from grokmini.sandbox.confined import SandboxedCommand
from grokmini.sandbox.degraded import how_to_get, label_in_part, losses, parted, remarks, remedy
from grokmini.sandbox.git_folders import make_steering, steered_folders
from grokmini.sandbox.keeper import Keeper
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.launch import (
    LAUNCHER,
    PYTHON,
    LauncherLostError,
    LauncherProcess,
    hand_over,
    start_launcher,
)
from grokmini.sandbox.nested import GitWatch
from grokmini.sandbox.own_folders import make_own
from grokmini.sandbox.pipe import side_channel
from grokmini.sandbox.plan import is_unconfined, launcher_plan
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import NO_MECHANISMS, Mechanisms, probe
from grokmini.sandbox.redirections import redirection_notices, redirections, remove_redirections
from grokmini.sandbox.roots import missing_notices, open_roots, usable
from grokmini.sandbox.runner import UNCONFINED, CommandSpec, Enforcement, unproved

CLOSE_LIMIT: Final = 5.0
"""Seconds that supervisors get to end their commands before the launcher above them is ended."""
TRIES: Final = 3
"""How often a launcher that dies before it took a command is replaced for it."""

WAY_OUT: Final = "Start in another folder, or put a real folder in place of the link."


@dataclass(eq=False)
class _Session:
    """A launcher with its policy and what runs in it."""

    policy: Policy
    launcher: LauncherProcess
    enforcement: Enforcement
    anchors: Anchors
    """What the mounts lie upon and the rules belong to, and what of it was not there."""
    folders: tuple[str, ...] = ()
    """Git folders that commands can write, but for what steers git."""
    keeper: Keeper | None = None
    commands: set[SandboxedCommand] = field(default_factory=set)
    starting: int = 0
    """How many commands are being handed over."""

    @property
    def busy(self) -> bool:
        """Whether something runs or is about to."""
        return bool(self.commands or self.starting)

    @property
    def outdated(self) -> bool:
        """Whether the mounts have to be made anew."""
        return self.anchors.replaced

    async def close(self) -> None:
        """Let the launcher go."""
        self.anchors.close()
        await self.launcher.close()
        if self.keeper is not None:
            self.keeper.close()


class SandboxedRunner:
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
        self._policy = policy
        self._on_proof = on_proof
        self._best_effort = best_effort
        self._mechanisms = mechanisms
        self._rescan = rescan
        self._session: _Session | None = None
        self._outside: _Session | None = None
        self._retired: set[_Session] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._spared: frozenset[str] | None = None
        """What leads git elsewhere and was there before any command."""
        self._watch = GitWatch()
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def enforcement(self) -> Enforcement:
        """What the proof at the launcher's start showed; before that nothing is claimed."""
        if is_unconfined(self._policy):
            return UNCONFINED
        return self._session.enforcement if self._session is not None else unproved(self._policy.profile)

    @property
    def policy(self) -> Policy | None:
        """The policy of the next command, None where it allows everything."""
        return None if is_unconfined(self._policy) else self._policy

    @property
    def launcher_pid(self) -> int | None:
        """The process of the launcher in use, None before the first command."""
        return self._session.launcher.pid if self._session is not None else None

    @property
    def idle(self) -> bool:
        """Whether nothing runs."""
        sessions = (*self._retired, *filter(None, (self._session, self._outside)))
        return not any(session.busy for session in sessions)

    async def prepare(self) -> Enforcement:
        """What is enforced; starts the launcher unless one is there. Raises `SandboxError`."""
        session = self._session
        if session is None or session.launcher.lost:
            session = await self._inside()
        return session.enforcement

    def expect(self, policy: Policy) -> None:
        """Use another policy from the next command on; what runs goes on under its own."""
        self._policy = policy

    async def renew(self, policy: Policy) -> Enforcement:
        """Use another policy from the next command on, and prove it now. Raises `SandboxError`."""
        self.expect(policy)
        return (await self._inside()).enforcement

    async def start(self, spec: CommandSpec) -> SandboxedCommand:
        """Start a command in a session and group of its own, without a terminal, with empty input.

        Raises `OSError` when the program or the folder is not there, `SandboxError` when it cannot be confined.
        """
        for _ in range(TRIES):
            if self._closed:
                raise RuntimeError("the runner is closed")
            let_out = spec.outside and not is_unconfined(self._policy)
            session = await (self._unconfined() if let_out else self._inside())
            with suppress(LauncherLostError):
                return await self._start_in(session, spec)
        raise SandboxError(
            "the launcher of the sandbox dies again and again", "Nothing was run. Is memory short? Try again."
        )

    async def close(self) -> None:
        """Kill what still runs and wait until it is gone."""
        self._closed = True
        async with self._lock:
            sessions = [*self._retired, *filter(None, (self._session, self._outside))]
            self._session = self._outside = None
        commands = [command for session in sessions for command in session.commands]
        for command in commands:
            command.abandon()
        await _ended(commands, CLOSE_LIMIT)
        for session in sessions:
            await session.close()
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
        for session in (*self._retired, *filter(None, (self._session, self._outside))):
            for command in tuple(session.commands):
                command.kill_now()

    async def _inside(self) -> _Session:
        """The session for confined commands, made or renewed when that is needed."""
        async with self._lock:
            if self._rescan is not None and self._session is not None:
                before, found = self._policy, await asyncio.to_thread(self._rescan)
                if self._policy is before:  # else another was expected meanwhile
                    self._policy = found
            policy = usable(self._policy)
            current = self._session
            alive = current is not None and not current.launcher.lost
            if current is not None and alive and current.policy == policy and not current.outdated:
                return current
            fresh = await self._open(policy)
            if current is not None:
                self._retire(current)
            self._session = fresh
            self._on_proof()
            return fresh

    async def _unconfined(self) -> _Session:
        """The session for commands that the person let out."""
        async with self._lock:
            if self._outside is not None and self._outside.launcher.lost:
                self._retire(self._outside)
                self._outside = None
            if self._outside is None:
                everything = Policy(profile="off", write_all=True, limits=self._policy.limits)
                self._outside = await self._open(everything)
            return self._outside

    async def _open(self, policy: Policy) -> _Session:
        if is_unconfined(policy):
            launcher = await start_launcher(launcher_plan(policy, NO_MECHANISMS, mounted=False))
            return _Session(policy, launcher, UNCONFINED, Anchors(()))
        mechanisms = self._mechanisms
        if mechanisms is None:
            mechanisms = await asyncio.to_thread(probe)
        lost = losses(policy, mechanisms)
        if lost:
            self._refuse_if_named(policy, lost, mechanisms)
        if mechanisms.bwrap:
            make_steering(policy.protected)
            _make_own(policy)
        mounts = mounts_of(policy, later=self._session is not None) if mechanisms.bwrap else Mounts((), (), ())
        if mounts.doors and policy.explicit and not self._best_effort:
            raise SandboxError(
                f"the sandbox profile {policy.profile} cannot be kept here: {'; '.join(mounts.doors)}",
                f"{WAY_OUT} --sandbox-best-effort goes on without that.",
            )
        covered = (*(mount.path for mount in mounts.mounts), *mounts.absent, *policy.denied)
        roots = (*writable_roots(policy), *policy.read_roots)
        anchors = Anchors((*roots, *covered) if mechanisms.bwrap else roots)
        try:
            return await self._opened(policy, mechanisms, mounts, anchors)
        except BaseException:
            anchors.close()
            raise

    async def _opened(
        self, policy: Policy, mechanisms: Mechanisms, mounts: Mounts, anchors: Anchors
    ) -> _Session:
        try:
            mounts, launcher = await _launch_with(policy, mechanisms, mounts)
        except SandboxError as error:
            if not mechanisms.bwrap:
                raise
            # It worked when it was tried: something of this policy's own mounts it cannot do.
            reasons = {**mechanisms.reasons, "bubblewrap": error.message}
            mechanisms = mechanisms._replace(bwrap=None, bwrap_network=False, reasons=reasons)
            lost, mounts = losses(policy, mechanisms), Mounts((), (), ())
            self._refuse_if_named(policy, lost, mechanisms)
            launcher = await _launch(policy, mechanisms, mounts)
        return await self._proved(policy, mechanisms, mounts, launcher, anchors)

    def _refuse_if_named(self, policy: Policy, lost: tuple[str, ...], mechanisms: Mechanisms) -> None:
        if policy.explicit and not self._best_effort:
            raise SandboxError(
                f"the sandbox profile {policy.profile} cannot be kept here; not enforced: {'; '.join(parted(lost)[0])}",
                how_to_get(mechanisms),
            )

    async def _proved(
        self,
        policy: Policy,
        mechanisms: Mechanisms,
        mounts: Mounts,
        launcher: LauncherProcess,
        anchors: Anchors,
    ) -> _Session:
        """The session, once what its launcher tried at its start has been judged."""
        try:
            if usable(policy) != policy:
                raise SandboxError("a folder was replaced while the sandbox was set up", "Try again.")
        except SandboxError:
            await launcher.close()
            raise
        holes = tuple(f"{attempt} {path}".strip() for attempt, path in launcher.ready.holes)
        if any(attempt == "confine" for attempt, _ in launcher.ready.holes) or (
            holes and policy.explicit and not self._best_effort
        ):
            await launcher.close()
            raise SandboxError(
                f"the sandbox does not hold: {'; '.join(holes)}",
                "Report this; --sandbox off goes on without it.",
            )
        folders = steered_folders(policy.protected)
        if self._spared is None:
            self._spared = frozenset(redirections(folders))
        lost = losses(policy, mechanisms) + mounts.uncovered + redirection_notices(self._spared)
        lost += tuple(f"the proof failed: commands can {hole}" for hole in holes)
        lost += remarks(policy, mechanisms, as_root=os.geteuid() == 0)
        confined = bool(mechanisms.landlock_abi or mechanisms.bwrap) and not holes
        blocked = policy.network == "blocked" and (mechanisms.seccomp or mechanisms.bwrap_network)
        missing = losses(policy, mechanisms)
        label = policy.profile if confined and not missing else label_in_part(policy.profile, mechanisms)
        hint = remedy(mechanisms) if missing else WAY_OUT if mounts.doors else ""
        self._watch.look(policy.write_roots)
        notices = (*policy.notices, *missing_notices(policy, launcher.ready.missing), *self._watch.told)
        enforcement = Enforcement(
            label if confined else "none", blocked and confined, confined, lost, hint, notices
        )
        folders = are_below(folders, writable_roots(policy))
        try:
            keeper = Keeper(folders, self._spared) if folders else None
        except OSError:
            await launcher.close()
            raise
        return _Session(policy, launcher, enforcement, anchors, folders, keeper)

    def _tell_settings(self, session: _Session) -> None:
        """Say what a command left for git to run."""
        current = self._session
        if current is None or self._closed or not self._watch.look(session.policy.write_roots):
            return
        notices = dict.fromkeys((*current.enforcement.notices, *self._watch.told))
        current.enforcement = replace(current.enforcement, notices=tuple(notices))
        self._on_proof()

    def _retire(self, session: _Session) -> None:
        """Let a launcher go as soon as nothing runs in it."""
        if session.busy:
            self._retired.add(session)
        else:
            self._retired.discard(session)
            task = asyncio.create_task(session.close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def _start_in(self, session: _Session, spec: CommandSpec) -> SandboxedCommand:
        session.starting += 1
        try:
            return await self._hand_over(session, spec)
        finally:
            session.starting -= 1
            if session in self._retired:
                self._retire(session)

    async def _hand_over(self, session: _Session, spec: CommandSpec) -> SandboxedCommand:
        spare = await session.launcher.take_spare()
        reading: list[int] = []
        writing: list[int] = []
        try:
            for make_ends in (os.pipe, side_channel) if spec.side_channel else (os.pipe,):
                ends = make_ends()
                reading.append(ends[0])
                writing.append(ends[1])
            pid = await hand_over(spare, spec, writing)
            spare.channel.close()
            command = SandboxedCommand(
                pid, spare.job, reading[0], reading[1] if spec.side_channel else None, lambda: ended()
            )
        except BaseException:
            spare.close()
            for fd in reading:
                os.close(fd)
            raise
        finally:
            for fd in writing:
                os.close(fd)

        def ended() -> None:
            session.commands.discard(command)
            if not spec.outside:
                remove_redirections(session.folders, self._spared or ())
                self._tell_settings(session)
            if session in self._retired:
                self._retire(session)

        session.commands.add(command)
        if self._closed:
            command.kill_now()
        return command


async def _ended(commands: list[SandboxedCommand], seconds: float) -> None:
    """Wait for the end of all, at most that long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            for command in commands:
                await command.wait()


def _make_own(policy: Policy) -> None:
    try:
        make_own(policy)
    except OSError as error:
        raise SandboxError(
            f"{error.filename} cannot be made: {error.strerror}",
            "It is for grokmini's own files, and a command must not be the first to make it: look at what is there.",
        ) from error


async def _launch_with(
    policy: Policy, mechanisms: Mechanisms, mounts: Mounts
) -> tuple[Mounts, LauncherProcess]:
    """The launcher in these mounts, or in what they are by now: a socket can have gone while they were made."""
    try:
        return mounts, await _launch(policy, mechanisms, mounts)
    except SandboxError:
        now = mounts_of(policy) if mechanisms.bwrap else mounts
        if now == mounts:
            raise
        return now, await _launch(policy, mechanisms, now)


async def _launch(policy: Policy, mechanisms: Mechanisms, mounts: Mounts) -> LauncherProcess:
    ruled = mechanisms.landlock_abi and not policy.write_all
    held = open_roots(writable_roots(policy)) if ruled else {}
    try:
        return await _launch_holding(policy, mechanisms, mounts, held)
    finally:
        for fd in held.values():
            os.close(fd)


async def _launch_holding(
    policy: Policy, mechanisms: Mechanisms, mounts: Mounts, held: dict[str, int]
) -> LauncherProcess:
    plan = launcher_plan(policy, mechanisms, mounted=mechanisms.bwrap is not None, held=held)
    if mechanisms.bwrap is None:
        return await start_launcher(plan, inherited=tuple(held.values()))
    masks: list[int] = []

    def mask() -> int:
        masks.append(os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC))
        return masks[-1]

    try:
        words = bwrap_words(
            policy,
            mounts,
            mechanisms.bwrap,
            network=mechanisms.bwrap_network,
            needed=(str(Path(PYTHON).parents[1]), str(LAUNCHER)),
            mask=mask,
        )
        return await start_launcher(plan, (*words, "--"), (*masks, *held.values()))
    finally:
        for fd in masks:
            os.close(fd)
