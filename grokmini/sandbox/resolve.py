"""A profile on this machine and in this folder: the policy that the mechanisms get. Looks at the file system."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grokmini.files.places import PROJECT_FOLDER
from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.denials import denials
from grokmini.sandbox.environment import tools_folder
from grokmini.sandbox.git_folders import git_besides, git_protected, git_roots
from grokmini.sandbox.globs import anchored, is_glob, unquoted
from grokmini.sandbox.landlock import SHARED_MEMORY
from grokmini.sandbox.limits import machine_limits
from grokmini.sandbox.own_folders import PACKAGE, links_to, own_code, own_protected
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.profile import Profile
from grokmini.sandbox.roots import Following
from grokmini.sandbox.temporary import TEMPORARY, why_not_temporary
from grokmini.text.below import is_below, is_below_any

TOOLS: Final = ("pip", "npm", "cargo", "go", "xdg")
_WRITTEN: Final = "what commands can write"
_SYSTEM: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/snap",
    "/var/lib/dpkg", "/var/lib/alternatives", "/var/cache/man", "/run/systemd/resolve", "/sys/devices/system/cpu",
)  # fmt: skip
_DEVBOX: Final = (
    "/data", "/etc/crontab", "/etc/anacrontab", "/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily",
    "/etc/cron.weekly", "/etc/cron.monthly", "/var/spool/cron", "/var/spool/at",
)  # fmt: skip
_KERNELS: Final = ("/proc", "/sys", "/dev")
_TOOLCHAINS: Final = (
    ".rustup", ".cargo/bin", ".nvm/versions", ".pyenv", ".rbenv", ".asdf", ".volta", ".local/share/uv/python",
    ".local/share/uv/tools", ".local/share/pipx", ".local/share/mise", ".sdkman/candidates", "go/bin", "go/pkg/mod",
    ".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Around:
    """What a profile meets: the folder worked in, the person's home, our own folders, the environment.

    `scratch` is the session's own folder for commands, empty for none; `kept` are those of what it keeps for its
    model to read. `given` are our own folders as the environment names them, links and all.
    `git_link` is where a link `.git` of the folder led before any command, `nested` is what steered git then in the
    repositories that lie in it.
    `code` is where our own code is.
    `former` are folders that commands could write before: links in them may be theirs, too.
    """

    cwd: str
    home: str
    env: Mapping[str, str]
    config: str = ""
    state: str = ""
    cache: str = ""
    data: str = ""
    scratch: str = ""
    kept: tuple[str, ...] = ()
    former: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    git_link: str = ""
    nested: tuple[str, ...] = ()
    code: str = PACKAGE
    protect_secrets: bool = True
    protect_env_files: bool = False

    @property
    def own(self) -> tuple[str, ...]:
        """The folders of ours that commands must not write."""
        return tuple(filter(None, (self.config, self.data, self.state)))


def resolve(profile: Profile, around: Around, *, explicit: bool) -> Policy:
    """The policy. Raises `SandboxError` for a profile that cannot be kept as written."""
    if profile.base == "off":
        return Policy(profile=profile.name, write_all=True, explicit=explicit, limits=machine_limits())
    following = Following(_writable(profile, around))
    temp = _temp(around, following)
    extra = tuple(filter(None, (_place(path, around, "write", following) for path in profile.write)))
    writes = list(extra)
    if profile.base in ("workspace", "strict"):
        writes = [around.cwd, *_repositories(around), *writes]
    strict = profile.base == "strict"
    devbox = profile.base == "devbox"
    reads = [_place(path, around, "read", following) for path in profile.read]
    if strict and "/" in reads:
        raise SandboxError(
            "a profile that extends strict cannot read the whole disk", "Extend read-only or workspace."
        )
    denied = denials(profile, around)
    own = () if devbox else tuple(dict.fromkeys(filter(None, (*around.given, *around.own))))
    roots = (*writes, *temp)
    return Policy(
        profile=profile.name,
        read_all=not strict,
        read_roots=_readable(around, list(filter(None, reads)), following) if strict else (),
        links=_links(profile, around, following) if strict else (),
        write_all=devbox,
        write_roots=tuple(dict.fromkeys(writes)),
        extra=extra,
        protected=_DEVBOX
        if devbox
        else (*_unwritten(profile, around, temp), *protected_paths(around, own, roots, extra)),
        own=own,
        denied=denied.paths,
        denied_globs=denied.globs,
        idle_globs=denied.idle,
        network="blocked" if profile.blocks_network else "open",
        allow_unix=profile.allow_unix,
        scratch=following.real(around.scratch, _WRITTEN) if around.scratch else "",
        temp=temp,
        caches=tuple(filter(None, (following.real(path, _WRITTEN) for path in cache_folders(profile, around)))),
        limits=machine_limits(),
        explicit=explicit or bool(profile.deny),
        notices=(*_wide(writes, around), *_ourselves(writes, around), *following.notices, *denied.notices),
    )


def protected_paths(
    around: Around, own: tuple[str, ...], roots: tuple[str, ...], extra: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """What stays read-only inside the writable folders; `extra` are those that the profile adds."""
    project = f"{around.cwd}/{PROJECT_FOLDER}"
    found = (
        *git_protected(around.cwd, around.home, around.env),
        *around.nested,
        *(git_besides(extra, around.home, around.env) if extra else ()),
        project,
        *own_protected(own, roots),
        own_code(roots, around.code),
    )
    return tuple(dict.fromkeys(f"/{path.lstrip('/')}" for path in found if path))


def cache_folders(profile: Profile, around: Around) -> tuple[str, ...]:
    """Where package managers keep what they fetched, shared by the sessions under a profile."""
    folder = tools_folder(profile, around.cache)
    return tuple(f"{folder}/{name}" for name in TOOLS) if folder else ()


def make_folders(policy: Policy, kept: tuple[str, ...] = ()) -> None:
    """Create what commands write to, and read, before mounts are made. Raises `OSError` for scratch and caches; what a
    profile names besides may be missing.
    """
    for folder in filter(None, (policy.scratch, *policy.caches, *kept)):
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    for folder in policy.extra:
        with suppress(OSError):
            Path(folder).mkdir(parents=True, exist_ok=True)


def _unwritten(profile: Profile, around: Around, temp: tuple[str, ...]) -> tuple[str, ...]:
    """The folder worked in, where it lies in a temporary one and the profile does not let it be written."""
    below = around.cwd not in temp and is_below_any(around.cwd, map(os.path.realpath, temp))
    return (around.cwd,) if below and profile.base == "read-only" and not profile.write else ()


def _writable(profile: Profile, around: Around) -> Iterator[str]:
    """The real folders in which a command may have made a link, the folder worked in whatever the profile."""
    yield from (
        around.cwd,
        *around.former,
        *map(os.path.realpath, (*TEMPORARY, *cache_folders(profile, around))),
    )
    for text in profile.write:
        yield os.path.realpath(_named(text, around))
    own = around.env.get("TMPDIR", "")
    if own.startswith("/") and not _why_not_temporary(own, around):
        yield os.path.realpath(own)


def _repositories(around: Around) -> tuple[str, ...]:
    """The git folders elsewhere that commits in the folder write; none by a folder that has come to be another one,
    nor by a link that a command may have made.
    """
    found = git_roots(around.cwd) if os.path.realpath(around.cwd) == around.cwd else ()
    by_link = os.path.islink(f"{around.cwd}/.git")
    return tuple(path for path in found if not by_link or path == around.git_link)


def _wide(writes: list[str], around: Around) -> Iterator[str]:
    """A sentence where commands can write much more than a project."""
    home = os.path.realpath(around.home)
    if around.cwd in writes and is_below_any(home, (around.cwd,)):
        what = "your home folder" if around.cwd == home else "your home folder among it"
        yield (
            f"Commands can write nearly everything in {around.cwd}, {what}: start in a project's folder to keep the "
            "rest from them."
        )


def _ourselves(writes: list[str], around: Around) -> Iterator[str]:
    """A sentence where commands can write what lies around our own code."""
    if is_below_any(os.path.realpath(around.code), map(os.path.realpath, writes)):
        kept = own_code(writes, around.code)
        yield (
            f"grokmini itself runs from {around.code}, in a folder that commands can write: "
            + ("it is kept from them, the programs and libraries beside it are not. " if kept else "")
            + "Install it elsewhere, so that nothing they leave there runs as a part of it."
        )


def _why_not_temporary(path: str, around: Around) -> str:
    return why_not_temporary(
        os.path.realpath(path), around.home, around.cwd, (*around.own, around.cache, around.scratch)
    )


def _temp(around: Around, following: Following) -> tuple[str, ...]:
    own = around.env.get("TMPDIR", "")
    found = [following.real(path) for path in TEMPORARY]
    if own.startswith("/") and own not in TEMPORARY and os.path.isdir(own):
        if why := _why_not_temporary(own, around):
            following.notices.append(
                f"TMPDIR={own} is left out of what commands can write: {why}. Name a folder that is for temporary "
                "files alone."
            )
        else:
            found.append(following.real(own, _WRITTEN))
    return tuple(path for path in dict.fromkeys(filter(None, found)) if os.path.isdir(path))


def _named(text: str, around: Around) -> str:
    return unquoted(anchored(text.removesuffix("/**"), around.cwd, around.home))


def _place(text: str, around: Around, key: str, following: Following) -> str:
    if is_glob(text.removesuffix("/**")):
        raise SandboxError(
            f"{key} of a sandbox profile takes folders, not {text!r}", "Only deny takes wildcards."
        )
    path = following.real(_named(text, around), f"what commands can {key}")
    if key == "write" and is_below_any(path, _KERNELS) and not is_below(path, SHARED_MEMORY):
        raise SandboxError(
            f"a sandbox profile cannot open {path}: it is the kernel's, and commands get one of their own",
            "Leave it out, or run what needs it outside of the sandbox.",
        )
    if key == "write" and any(own and is_below(path, own) for own in (around.config, around.state)):
        raise SandboxError(
            f"a sandbox profile cannot open {path}: it holds grokmini's own settings", "Leave it out."
        )
    return path


def _readable(around: Around, reads: list[str], following: Following) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*_system_roots(around, following), around.cwd, *around.kept, *reads)))


def _links(profile: Profile, around: Around, following: Following) -> tuple[str, ...]:
    """The links on the way to the home folder, to toolchains and to what the profile names: people and programs go by
    these names, and what may be used is to be found by them.
    """
    names = (
        around.home,
        *(f"{around.home}/{name}" for name in _TOOLCHAINS),
        *(folder for folder in _search(around) if folder.startswith("/")),
        *(_named(text, around) for text in (*profile.read, *profile.write)),
    )
    return tuple(dict.fromkeys(link for name in names if following.real(name) for link in links_to(name)))


def _search(around: Around) -> list[str]:
    return around.env.get("PATH", "").split(os.pathsep)


def _system_roots(around: Around, following: Following) -> Iterator[str]:
    yield from (path for path in _SYSTEM if os.path.exists(path))
    home = os.path.realpath(around.home)
    yield from (f"{home}/{name}" for name in _TOOLCHAINS if os.path.exists(f"{home}/{name}"))
    for folder in (*_search(around), sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib")):
        real = following.real(folder) if folder.startswith("/") else ""
        if real and os.path.isdir(real) and not is_below(home, real) and not _is_ours(real, around):
            yield real


def _is_ours(path: str, around: Around) -> bool:
    return any(own and (is_below(path, own) or is_below(own, path)) for own in (around.config, around.state))
