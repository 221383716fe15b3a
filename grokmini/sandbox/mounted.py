"""A launcher inside of the mounts of its policy, with everything it inherits held open until it is there."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple

from grokmini.files.descriptors import O_PATH, open_straight
from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.bwrap import Mounts, bwrap_words, mounts_of
from grokmini.sandbox.in_thread import made_in_thread
from grokmini.sandbox.landlock import writable_roots
from grokmini.sandbox.launch import LAUNCHER, PYTHON, LauncherProcess, start_launcher
from grokmini.sandbox.plan import launcher_plan
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.roots import open_roots
from grokmini.sandbox.verdict import replaced, sees_others

TRIES: Final = 4
"""How often mounts are made while something of them comes and goes."""
NO_MOUNTS = Mounts((), (), ())
"""Where bubblewrap does not work."""


async def launch_mounted(
    policy: Policy, mechanisms: Mechanisms, mounts: Mounts, *, later: bool
) -> tuple[Mounts, LauncherProcess]:
    """The launcher in these mounts, or in what they are by now: something of it can have gone while they were made.

    `later` is what it is for `mounts_of`. Raises `SandboxError`.
    """
    for _ in range(TRIES):
        launcher: LauncherProcess | None = None
        failed: SandboxError | None = None
        try:
            launcher = await launch(policy, mechanisms, mounts)
        except SandboxError as error:
            failed = error
        if launcher is not None and not sees_others(attempt for attempt, _ in launcher.ready.holes):
            return mounts, launcher
        now = await asyncio.to_thread(mounts_of, policy, later=later) if mechanisms.bwrap else mounts
        if now == mounts and launcher is not None:
            return mounts, launcher
        if launcher is not None:
            await launcher.close()
        if now == mounts and failed is not None:
            raise failed
        mounts = now
    raise replaced()


def _identities(mounts: Mounts) -> Iterator[tuple[str, str]]:
    """What has to be at the mounts that can be written, as `proof` checks: bubblewrap goes by their paths, and what
    these lead to can change at any moment. Raises `SandboxError` when it just did.
    """
    for path in (mount.path for mount in mounts.mounts if mount.how in ("write", "pin")):
        with ExitStack() as stack:
            try:
                fd = open_straight(path, O_PATH | os.O_CLOEXEC)
            except OSError as error:
                raise replaced() from error
            stack.callback(os.close, fd)
            info = os.fstat(fd)
        yield f"not {info.st_dev} {info.st_ino}", path


async def launch(policy: Policy, mechanisms: Mechanisms, mounts: Mounts) -> LauncherProcess:
    """The launcher in exactly these mounts; they do not count without bubblewrap. Raises `SandboxError`."""
    prepared = await made_in_thread(lambda: _prepared(policy, mechanisms, mounts), lambda one: one.held.close())
    with prepared.held:
        return await start_launcher(prepared.plan, prepared.around, prepared.inherited)


class _Prepared(NamedTuple):
    """What a launcher is started with; `held` closes the descriptors that it inherits."""

    plan: dict[str, Any]
    around: tuple[str, ...]
    inherited: tuple[int, ...]
    held: ExitStack


def _prepared(policy: Policy, mechanisms: Mechanisms, mounts: Mounts) -> _Prepared:
    with ExitStack() as stack:
        held = open_roots(writable_roots(policy)) if mechanisms.landlock_abi and not policy.write_all else {}
        inherited = [*held.values()]
        for fd in inherited:
            stack.callback(os.close, fd)
        plan = launcher_plan(policy, mechanisms, mounted=mechanisms.bwrap is not None, held=held)
        plan["proof"] += _identities(mounts)

        def mask() -> int:
            fd = os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
            stack.callback(os.close, fd)
            inherited.append(fd)
            return fd

        words: list[str] = []
        if mechanisms.bwrap is not None:
            words = bwrap_words(
                policy,
                mounts,
                mechanisms.bwrap,
                network=mechanisms.bwrap_network,
                needed=(str(Path(PYTHON).parents[1]), str(LAUNCHER)),
                mask=mask,
            )
            words.append("--")
        return _Prepared(plan, tuple(words), tuple(inherited), stack.pop_all())
