"""Which sandbox profile a session runs under, and the runner that keeps it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from grokmini.cli.root import Root
from grokmini.files.places import PROJECT_FOLDER, repository_root
from grokmini.protocol.errors import SandboxError, UsageError
from grokmini.sandbox.profile import BUILT_IN, DEFAULT, FILE, OFF, Profile, built_in

if TYPE_CHECKING:  # what confines is loaded when something is to be confined
    from grokmini.sandbox.policy import Policy
    from grokmini.sandbox.probe import Mechanisms
    from grokmini.sandbox.profile_file import Profiles
    from grokmini.sandbox.resolve import Around
    from grokmini.sandbox.switch import ConfiningRunner, SessionRunner

UNASKED_PROFILE: Final = DEFAULT
"""The profile where nobody named one."""


class Choice(NamedTuple):
    """A profile, and whether a person named it: then it is kept whole or not at all."""

    profile: Profile
    explicit: bool


class Confinement(NamedTuple):
    """A runner for single commands and what else they get in their environment."""

    runner: SessionRunner
    env: dict[str, str]


def profiles_of(root: Root) -> Profiles:
    """Every profile that can be named here. Raises `SandboxError`."""
    from grokmini.sandbox.profile_file import read_profiles

    user, project = _files(root)
    return read_profiles(user, project)


def _files(root: Root) -> tuple[Path | None, Path]:
    """Where the user's profiles and the project's are."""
    project = (repository_root(root.cwd) or root.cwd) / PROJECT_FOLDER / FILE
    return root.places.config / FILE if root.places else None, project


Agree: TypeAlias = "Callable[[Profile, tuple[str, ...]], bool]"
"""Asks the person for the once-only yes to a project's profile, given what it grants beyond `workspace`."""


def choose(root: Root, resumed: str = "", ask: Agree | None = None) -> Choice:
    """By option, by what the session ran under, by setting, else the default.

    Raises `SandboxError` for an unknown profile, a file that cannot be understood, or a project's profile that
    grants more than `workspace` and that the person has not agreed to, also when asked by `ask`; `UsageError` for an
    option without a name.
    """
    if root.options.sandbox is not None and not root.options.sandbox.strip():
        raise UsageError("the sandbox profile that was named is empty", "name one, as in --sandbox read-only")
    named = root.options.sandbox or resumed or root.settings.sandbox.profile
    name = named or UNASKED_PROFILE
    if name in BUILT_IN and not any(os.path.lexists(path) for path in filter(None, _files(root))):
        return Choice(built_in(name), explicit=bool(named))
    profiles = profiles_of(root)
    try:
        profile = profiles.find(name)
    except SandboxError as error:
        raise SandboxError(f"{error.message}{_who_named(root, resumed)}", error.hint) from error
    if not is_agreed(root, profile):
        if ask is None or not ask(profile, beyond_workspace(root, profile)):
            raise SandboxError(
                f"the project's sandbox profile {name!r} grants more than workspace",
                f"look at it with: grokmini sandbox explain --profile {name}; "
                f"agree once: grokmini sandbox trust {name}",
            )
        agree(root, profile)
    return Choice(profile, explicit=bool(named))


def _who_named(root: Root, resumed: str) -> str:
    """Who named a profile that cannot be used, as the end of a sentence; nothing for the option just given."""
    if root.options.sandbox:
        return ""
    if resumed:
        return ", which this session ran under; --sandbox NAME goes on under another"
    return ", which your settings name ([sandbox] profile)"


def is_agreed(root: Root, profile: Profile) -> bool:
    """Whether a profile may be used: it is the person's own, grants no more than `workspace`, or was agreed to."""
    if not (profile.digest and profile.grants_more):
        return True
    from grokmini.config.sandbox_trust import is_trusted

    return root.places is not None and is_trusted(root.places.state, profile.digest)


def agree(root: Root, profile: Profile) -> None:
    """Remember the person's yes to a project's profile as it is now. Raises `ConfigError`."""
    if root.places is not None:
        from grokmini.config.sandbox_trust import trust

        trust(root.places.state, profile.digest)


def beyond_workspace(root: Root, profile: Profile) -> tuple[str, ...]:
    """What a profile allows that `workspace` does not, as ends of "they may …". Raises `SandboxError`."""
    from grokmini.sandbox.compare import grants_more
    from grokmini.sandbox.resolve import resolve

    around = around_of(root, None)
    usual = resolve(built_in(DEFAULT), around, explicit=False)
    more = grants_more(resolve(profile, around, explicit=True), usual)
    env = tuple(f"get {name}={value} in their environment" for name, value in profile.env)
    return (*more, *env)


def around_of(root: Root, directory: Path | None) -> Around:
    """What a profile meets in the root's folder. `directory` holds the session's files."""
    from grokmini.sandbox.git_folders import git_besides
    from grokmini.sandbox.nested import repositories_in
    from grokmini.sandbox.resolve import Around
    from grokmini.store.layout import PROMPTS, SCRATCH, TOOL_OUTPUT

    places = (
        {name: os.path.realpath(path) for name, path in root.places._asdict().items()} if root.places else {}
    )
    dot_git, home = root.cwd / ".git", root.env.get("HOME", "") or str(Path.home())
    given = (root.places.config, root.places.data, root.places.state) if root.places else ()
    session = os.path.realpath(directory) if directory is not None else ""
    return Around(
        cwd=str(root.cwd),
        home=home,
        env=root.env,
        scratch=session and f"{session}/{SCRATCH}",
        kept=(f"{session}/{TOOL_OUTPUT}", f"{session}/{PROMPTS}") if session else (),
        given=tuple(map(str, given)),
        git_link=os.path.realpath(dot_git) if os.path.islink(dot_git) else "",
        nested=git_besides(repositories_in(str(root.cwd)), home, root.env),
        protect_secrets=root.settings.sandbox.protect_secrets,
        protect_env_files=root.settings.sandbox.protect_env_files,
        **places,
    )


def confine(root: Root, choice: Choice) -> Confinement:
    """A runner for single commands, no session around. Raises `SandboxError`."""
    from grokmini.sandbox.environment import profile_environment

    around = around_of(root, None)
    runner = runner_for(root, choice, lambda: around)
    return Confinement(runner, profile_environment(choice.profile, around.cache))


def runner_for(
    root: Root,
    choice: Choice,
    around: Callable[[], Around],
    *,
    mechanisms: Mechanisms | None = None,
    on_proof: Callable[[], None] = lambda: None,
) -> ConfiningRunner:
    """A runner that keeps a profile in what is around it at the time. Blocks. Raises `SandboxError`."""
    from grokmini.sandbox.confining import confining_runner
    from grokmini.sandbox.resolve import make_folders, resolve
    from grokmini.sandbox.sockets import make_multiplexer_folders

    def policy_now() -> Policy:
        return resolve(choice.profile, around(), explicit=choice.explicit)

    if root.settings.sandbox.protect_secrets and choice.profile.base not in (OFF, "devbox"):
        make_multiplexer_folders(root.env)
    policy = policy_now()
    try:
        make_folders(policy, () if policy.read_all else around().kept)
    except OSError as error:
        raise SandboxError(
            f"{error.filename} cannot be made: {error.strerror}",
            "Commands need it; check the folder's permissions.",
        ) from error
    return confining_runner(
        policy,
        best_effort=root.options.sandbox_best_effort,
        mechanisms=mechanisms,
        rescan=policy_now if choice.profile.base != OFF else None,
        on_proof=on_proof,
    )
