"""Which sandbox profile a session runs under, and the runner that keeps it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from grokmini.cli.root import Root
from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.profile import OFF, Profile

if TYPE_CHECKING:  # what confines is loaded when something is to be confined
    from grokmini.sandbox.client import SandboxedRunner
    from grokmini.sandbox.policy import Policy
    from grokmini.sandbox.profile_file import Profiles
    from grokmini.sandbox.resolve import Around
    from grokmini.sandbox.unconfined import UnconfinedRunner

UNASKED_PROFILE: Final = OFF
"""The profile where nobody named one."""
SCRATCH: Final = "scratch"


class Choice(NamedTuple):
    """A profile, and whether a person named it: then it is kept whole or not at all."""

    profile: Profile
    explicit: bool


class Confinement(NamedTuple):
    """The runner of a session and what else its commands get in their environment."""

    runner: SandboxedRunner | UnconfinedRunner
    env: dict[str, str]
    choice: Choice
    policy: Policy | None

    @property
    def lost(self) -> tuple[str, ...]:
        """What the profile promises and this machine does not keep; nothing where nothing is promised."""
        return self.runner.enforcement.lost if self.policy is not None else ()


def profiles_of(root: Root) -> Profiles:
    """Every profile that can be named here. Raises `SandboxError`."""
    from grokmini.config.paths import PROJECT_FOLDER
    from grokmini.sandbox.profile_file import FILE, read_profiles
    from grokmini.text.paths import repository_root

    project = (repository_root(root.cwd) or root.cwd) / PROJECT_FOLDER / FILE
    return read_profiles(root.places.config / FILE if root.places else None, project)


def choose(root: Root, resumed: str = "") -> Choice:
    """By option, by what the session ran under, by setting, else the default.

    Raises `SandboxError` for an unknown profile, a file that cannot be understood, or a project's profile that
    grants more than `workspace` and that the person has not agreed to.
    """
    named = root.options.sandbox or resumed or root.settings.sandbox.profile
    name = named or UNASKED_PROFILE
    if name == OFF:
        from grokmini.sandbox.profile import built_in

        return Choice(built_in(OFF), explicit=bool(named))
    profile = profiles_of(root).find(name)
    if profile.digest and profile.grants_more and not _agreed(root, profile):
        raise SandboxError(
            f"the project's sandbox profile {name!r} grants more than workspace",
            f"look at it with: grokmini sandbox explain --profile {name}; agree once: grokmini sandbox trust {name}",
        )
    return Choice(profile, explicit=bool(named))


def _agreed(root: Root, profile: Profile) -> bool:
    from grokmini.config.sandbox_trust import is_trusted

    return root.places is not None and is_trusted(root.places.state, profile.digest)


def around_of(root: Root, scratch: Path | None) -> Around:
    """What a profile meets here."""
    from grokmini.sandbox.resolve import Around

    places = (
        {name: os.path.realpath(path) for name, path in root.places._asdict().items()} if root.places else {}
    )
    return Around(
        cwd=str(root.cwd),
        home=root.env.get("HOME", "") or str(Path.home()),
        env=root.env,
        scratch=os.path.realpath(scratch) if scratch is not None else "",
        protect_secrets=root.settings.sandbox.protect_secrets,
        protect_env_files=root.settings.sandbox.protect_env_files,
        **places,
    )


async def prepare(root: Root, resumed: str, directory: Path | None) -> Confinement:
    """The runner for a session that ran under the profile `resumed` ("" for none), its start-up proof done.

    Raises `SandboxError`.
    """
    confinement = await asyncio.to_thread(confine, root, choose(root, resumed), directory)
    if confinement.policy is not None:
        await cast("SandboxedRunner", confinement.runner).prepare()
    return confinement


def confine(root: Root, choice: Choice, directory: Path | None) -> Confinement:
    """The runner for a session whose files are in `directory`. Raises `SandboxError`."""
    if choice.profile.base == OFF:
        from grokmini.sandbox.unconfined import UnconfinedRunner

        return Confinement(UnconfinedRunner(), {}, choice, None)
    from grokmini.sandbox.client import SandboxedRunner
    from grokmini.sandbox.resolve import environment_of, make_folders, resolve

    around = around_of(root, directory / SCRATCH if directory is not None else None)
    policy = resolve(choice.profile, around, explicit=choice.explicit)
    try:
        make_folders(policy)
    except OSError as error:
        raise SandboxError(
            f"{error.filename} cannot be made: {error.strerror}",
            "Commands need it; check the folder's permissions.",
        ) from error
    runner = SandboxedRunner(
        policy,
        best_effort=root.options.sandbox_best_effort,
        rescan=lambda: resolve(choice.profile, around, explicit=choice.explicit),
    )
    return Confinement(runner, environment_of(choice.profile, around), choice, policy)
