"""A profile as it is resolved in a folder of a test: a home, a project, our own folders, nothing temporary."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.profile import Profile, built_in
from grokmini.sandbox.resolve import Around, make_folders, resolve


def around_of(root: Path, env: Mapping[str, str] | None = None) -> Around:
    """What a profile meets in `root`; makes the folders."""
    for name in ("home", "work", "ours/config", "ours/state"):
        (root / name).mkdir(parents=True, exist_ok=True)
    return Around(
        cwd=str(root / "work"),
        home=str(root / "home"),
        env={"HOME": str(root / "home"), "XDG_RUNTIME_DIR": str(root / "run"), **(env or {})},
        config=str(root / "ours/config"),
        state=str(root / "ours/state"),
        cache=str(root / "ours/cache"),
        scratch=str(root / "ours/state/sessions/1/scratch"),
    )


def resolved(around: Around, profile: str | Profile = "workspace") -> Policy:
    """The policy, with the temporary folders, in which tests work, left out."""
    found = built_in(profile) if isinstance(profile, str) else profile
    policy = _without_temporary(found, around)
    make_folders(policy)
    return policy


@asynccontextmanager
async def working(
    around: Around, profile: Profile | None = None, told: Callable[[], None] = lambda: None
) -> AsyncIterator[SandboxedRunner]:
    """A runner that looks anew before each command, as a session's does."""
    found = profile or built_in("workspace")
    runner = SandboxedRunner(
        resolved(around, found), rescan=lambda: _without_temporary(found, around), on_proof=told
    )
    try:
        yield runner
    finally:
        await runner.close()


def _without_temporary(profile: Profile, around: Around) -> Policy:
    return replace(resolve(profile, around, explicit=False), temp=())
