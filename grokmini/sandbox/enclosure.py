"""A launcher with its policy and what runs in it, and how one comes to be: what this machine can do, the mounts, the
start, the proof.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from typing import Final

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.anchors import Anchors
from grokmini.sandbox.bwrap import Mounts, mounts_of
from grokmini.sandbox.closed import closed_by_others
from grokmini.sandbox.confined import SandboxedCommand
from grokmini.sandbox.degraded import label_in_part, losses, remedy
from grokmini.sandbox.git_care import GitCare, GitFolders
from grokmini.sandbox.git_folders import make_steering
from grokmini.sandbox.in_thread import made_in_thread
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.launch import LauncherProcess, start_launcher
from grokmini.sandbox.mounted import NO_MOUNTS, launch, launch_mounted
from grokmini.sandbox.own_folders import make_own
from grokmini.sandbox.plan import is_unconfined, launcher_plan
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import NO_MECHANISMS, Mechanisms, probe
from grokmini.sandbox.roots import missing_notices, usable
from grokmini.sandbox.runner import UNCONFINED, Enforcement
from grokmini.sandbox.verdict import ReplacedError, check_losses, check_proof, further_losses, replaced
from grokmini.text.below import is_below_any
from grokmini.text.some import some_of

TRIES: Final = 3
"""How often a sandbox is made while something that it is made of changes."""
WAY_OUT: Final = "Start in another folder, or put a real folder in place of the link."


@dataclass(eq=False)
class Enclosure:
    """A launcher with its policy and what runs in it."""

    policy: Policy
    launcher: LauncherProcess
    enforcement: Enforcement
    anchors: Anchors
    """What the mounts lie upon and the rules belong to, and what of it was not there."""
    folders: GitFolders = field(default_factory=GitFolders)
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
        self.folders.close()


class Opener:
    """Opens enclosures for one runner; see there for `mechanisms` and `best_effort`. `git` begins with each."""

    def __init__(self, git: GitCare, mechanisms: Mechanisms | None, *, best_effort: bool) -> None:
        self._git = git
        self._mechanisms = mechanisms
        self._best_effort = best_effort

    async def open(self, policy: Policy, *, later: bool) -> Enclosure:
        """Start a launcher and judge its proof. `later`: commands ran before. Raises `SandboxError`, `OSError`."""
        for _ in range(TRIES - 1):
            with suppress(ReplacedError):  # which rarely happens twice
                return await self._open(policy, later=later)
        return await self._open(policy, later=later)

    async def _open(self, policy: Policy, *, later: bool) -> Enclosure:
        if is_unconfined(policy):
            launcher = await start_launcher(launcher_plan(policy, NO_MECHANISMS, mounted=False))
            return Enclosure(policy, launcher, UNCONFINED, Anchors(()))
        mechanisms = self._mechanisms
        if mechanisms is None:
            mechanisms = await asyncio.to_thread(probe)
        self._check_losses(policy, mechanisms)
        _check_entrance(policy)
        mounts = NO_MOUNTS
        if mechanisms.bwrap:
            mounts = await asyncio.to_thread(_made_mounts, policy, later=later)
        if mounts.doors and self._is_strict(policy):
            raise SandboxError(
                f"the sandbox profile {policy.profile} cannot be kept here: {'; '.join(mounts.doors)}",
                f"{WAY_OUT} A start with --sandbox-best-effort goes on without that.",
            )
        covered = (*(mount.path for mount in mounts.mounts), *mounts.absent, *policy.denied)
        roots = (*writable_roots(policy), *policy.read_roots)
        with ExitStack() as unless_opened:
            held = (*roots, *covered) if mechanisms.bwrap else roots
            anchors = await made_in_thread(lambda: Anchors(held), Anchors.close)
            unless_opened.callback(anchors.close)
            enclosure = await self._opened(policy, mechanisms, mounts, anchors, later=later)
            unless_opened.pop_all()
        return enclosure

    async def _opened(
        self, policy: Policy, mechanisms: Mechanisms, mounts: Mounts, anchors: Anchors, *, later: bool
    ) -> Enclosure:
        try:
            mounts, launcher = await launch_mounted(policy, mechanisms, mounts, later=later)
        except ReplacedError:
            raise
        except SandboxError as error:
            if not mechanisms.bwrap:
                raise
            if not self._best_effort:
                await _check_lasting(policy, mechanisms, mounts, error)
            # It worked when it was tried: something of this policy's own mounts it cannot do.
            reasons = {**mechanisms.reasons, "bubblewrap": error.message}
            mechanisms = mechanisms._replace(bwrap=None, bwrap_network=False, reasons=reasons)
            mounts = NO_MOUNTS
            self._check_losses(policy, mechanisms)
            launcher = await launch(policy, mechanisms, mounts)
        try:
            enforcement, folders = self._judged(policy, mechanisms, mounts, launcher)
        except (SandboxError, OSError):
            await launcher.close()
            raise
        return Enclosure(policy, launcher, enforcement, anchors, folders)

    def _judged(
        self, policy: Policy, mechanisms: Mechanisms, mounts: Mounts, launcher: LauncherProcess
    ) -> tuple[Enforcement, GitFolders]:
        """What is really enforced, by what the launcher tried at its start."""
        hidden = {mount.path for mount in mounts.mounts if mount.how == "mask"}
        read = {os.path.realpath(path) for attempt, path in launcher.ready.holes if attempt == "read"}
        if usable(policy) != policy or not read <= hidden:  # what was not there when the mounts were made
            raise replaced()
        holes = tuple(f"{attempt} {path}".strip() for attempt, path in launcher.ready.holes)
        check_proof(holes, strict=self._is_strict(policy))
        folders = self._git.begin(policy)
        missing = losses(policy, mechanisms)
        lost = (*missing, *mounts.uncovered, *self._git.lost, *further_losses(policy, mechanisms, holes))
        confined = bool(mechanisms.landlock_abi or mechanisms.bwrap) and not holes
        blocked = policy.network == "blocked" and (mechanisms.seccomp or mechanisms.bwrap_network)
        label = policy.profile if confined and not missing else label_in_part(policy.profile, mechanisms)
        hint = remedy(mechanisms) if missing else WAY_OUT if mounts.doors else ""
        notices = (*policy.notices, *missing_notices(policy, launcher.ready.missing), *self._git.notices)
        enforcement = Enforcement(
            label if confined else "none", blocked and confined, confined, lost, hint, notices
        )
        return enforcement, folders

    def _check_losses(self, policy: Policy, mechanisms: Mechanisms) -> None:
        check_losses(policy, losses(policy, mechanisms), mechanisms, strict=self._is_strict(policy))

    def _is_strict(self, policy: Policy) -> bool:
        return policy.explicit and not self._best_effort


async def _check_lasting(policy: Policy, mechanisms: Mechanisms, mounts: Mounts, error: SandboxError) -> None:
    """Raise `SandboxError` where all is well but for what is to be hidden in a temporary folder. Another program can
    have it come and go there as it likes: no sandbox is to become weaker by that.
    """
    lasting = tuple(
        one for one in mounts.mounts if one.how != "mask" or not is_below_any(one.path, policy.temp)
    )
    if lasting == mounts.mounts:
        return
    try:
        launcher = await launch(policy, mechanisms, mounts._replace(mounts=lasting))
    except SandboxError:
        return
    await launcher.close()
    raise SandboxError(
        f"what is to be hidden in {some_of(policy.temp, 2)} changes while the sandbox is set up: {error.message}",
        "Try again; if it goes on, look for the program that does that, or name the profile with "
        "--sandbox-best-effort to go on without bubblewrap.",
    ) from error


def _check_entrance(policy: Policy) -> None:
    for root in policy.write_roots:
        if folder := closed_by_others(root):
            raise SandboxError(
                f"no command can get into {root}: {folder} is another user's, closed to others, and commands run "
                "without root's rights over what is another's",
                "Work there as that user, or run without a sandbox (--sandbox off).",
            )


def _made_mounts(policy: Policy, *, later: bool) -> Mounts:
    """What to mount, with what has to be there for it made first. Blocks."""
    make_steering(policy.protected)
    _make_own(policy)
    return mounts_of(policy, later=later)


def _make_own(policy: Policy) -> None:
    try:
        make_own(policy)
    except OSError as error:
        raise SandboxError(
            f"{error.filename} cannot be made: {error.strerror}",
            "It is for grokmini's own files, and a command must not be the first to make it: look at what is there.",
        ) from error
