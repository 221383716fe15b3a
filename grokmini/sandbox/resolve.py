"""A profile on this machine and in this folder: the policy that the mechanisms get. Looks at the file system."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.git_folders import git_protected, git_roots
from grokmini.sandbox.globs import anchored, expand, is_glob, unquoted, without_links
from grokmini.sandbox.limits import machine_limits
from grokmini.sandbox.own_folders import own_protected
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.profile import Profile
from grokmini.sandbox.secrets import bound_sockets, secret_paths

PROJECT_FOLDER: Final = ".grokmini"
TOOLS: Final = ("pip", "npm", "cargo", "go", "xdg")
_SYSTEM: Final = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix", "/snap",
    "/var/lib/dpkg", "/var/lib/alternatives", "/var/cache/man", "/run/systemd/resolve", "/sys/devices/system/cpu",
)  # fmt: skip
_DEVBOX: Final = (
    "/data", "/etc/crontab", "/etc/anacrontab", "/etc/cron.d", "/etc/cron.hourly", "/etc/cron.daily",
    "/etc/cron.weekly", "/etc/cron.monthly", "/var/spool/cron", "/var/spool/at",
)  # fmt: skip
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
    given: tuple[str, ...] = ()
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
    temp = _temp(around.env)
    writes = [str(_place(path, around, "write")) for path in profile.write]
    if profile.base in ("workspace", "strict"):
        writes = [around.cwd, *git_roots(around.cwd), *writes]
    strict = profile.base == "strict"
    devbox = profile.base == "devbox"
    reads = [str(_place(path, around, "read")) for path in profile.read]
    own = () if devbox else tuple(dict.fromkeys(filter(None, (*around.given, *around.own))))
    roots = (*writes, *temp)
    return Policy(
        profile=profile.name,
        read_all=not strict,
        read_roots=_readable(around, reads) if strict else (),
        write_all=devbox,
        write_roots=tuple(dict.fromkeys(writes)),
        protected=_DEVBOX
        if devbox
        else (*_unwritten(profile, around, temp), *protected_paths(around, own, roots)),
        own=own,
        denied=denied_paths(profile, around),
        denied_globs=denied_globs(profile, around),
        network="blocked" if profile.blocks_network else "open",
        allow_unix=profile.allow_unix,
        scratch=around.scratch,
        temp=temp,
        caches=cache_folders(around),
        limits=machine_limits(),
        explicit=explicit or bool(profile.deny),
    )


def denied_paths(profile: Profile, around: Around) -> tuple[str, ...]:
    """What cannot be read, as things are now. Raises `SandboxError`."""
    found: list[str] = []
    for pattern in _denied_patterns(profile, around):
        found += expand(pattern)
    if around.protect_secrets and profile.base != "devbox":
        found += secret_paths(around.home, around.env, around.own)
    if profile.blocks_network and profile.allow_unix:
        found += (path for path in bound_sockets(Path("/proc/net/unix")) if not _overlap(path, around.cwd))
    return tuple(dict.fromkeys(os.path.realpath(path) for path in found))


def denied_globs(profile: Profile, around: Around) -> tuple[str, ...]:
    """The absolute patterns of what cannot be read whenever it comes to be. Raises `SandboxError`."""
    return tuple(without_links(pattern) for pattern in _denied_patterns(profile, around) if is_glob(pattern))


def _denied_patterns(profile: Profile, around: Around) -> Iterator[str]:
    files = (".env*", "**/.env*") if around.protect_env_files else ()
    for pattern in (*profile.deny, *files):
        yield anchored(pattern, around.cwd, around.home)


def protected_paths(around: Around, own: tuple[str, ...], roots: tuple[str, ...]) -> tuple[str, ...]:
    """What stays read-only inside the writable folders."""
    project = f"{around.cwd}/{PROJECT_FOLDER}"
    return tuple(dict.fromkeys((*git_protected(around.cwd), project, *own_protected(own, roots))))


def cache_folders(around: Around) -> tuple[str, ...]:
    """Where package managers keep what they fetched, shared by sessions."""
    return tuple(f"{around.cache}/tools/{name}" for name in TOOLS) if around.cache else ()


def make_folders(policy: Policy, kept: tuple[str, ...] = ()) -> None:
    """Create what commands write to, and read, before mounts are made: scratch and caches. Raises `OSError`."""
    for folder in filter(None, (policy.scratch, *policy.caches, *kept)):
        Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)


def _unwritten(profile: Profile, around: Around, temp: tuple[str, ...]) -> tuple[str, ...]:
    """The folder worked in, where it lies in a temporary one and the profile does not let it be written."""
    below = any(around.cwd.startswith(os.path.realpath(folder).rstrip("/") + "/") for folder in temp)
    return (around.cwd,) if below and profile.base == "read-only" and not profile.write else ()


def _temp(env: Mapping[str, str]) -> tuple[str, ...]:
    own = env.get("TMPDIR", "")
    known = ("/tmp", "/var/tmp")
    usable = own.startswith("/") and os.path.realpath(own) not in ("/", os.path.realpath(env.get("HOME", "/")))
    return tuple(path for path in dict.fromkeys((*known, *((own,) if usable else ()))) if Path(path).is_dir())


def _place(text: str, around: Around, key: str) -> str:
    if is_glob(text.removesuffix("/**")):
        raise SandboxError(
            f"{key} of a sandbox profile takes folders, not {text!r}", "Only deny takes wildcards."
        )
    path = os.path.realpath(unquoted(anchored(text.removesuffix("/**"), around.cwd, around.home)))
    if key == "write" and any(own and _overlap(path, own) for own in (around.config, around.state)):
        raise SandboxError(
            f"a sandbox profile cannot open {path}: it holds grokmini's own settings", "Leave it out."
        )
    return path


def _overlap(path: str, own: str) -> bool:
    return path == own or path.startswith(own.rstrip("/") + "/")


def _readable(around: Around, reads: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*_system_roots(around), around.cwd, *around.kept, *reads)))


def _system_roots(around: Around) -> Iterator[str]:
    yield from (path for path in _SYSTEM if Path(path).exists())
    home = os.path.realpath(around.home)
    yield from (f"{home}/{name}" for name in _TOOLCHAINS if Path(home, name).exists())
    search = around.env.get("PATH", "").split(os.pathsep)
    for folder in (*search, sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib")):
        real = os.path.realpath(folder) if folder.startswith("/") else ""
        if real and Path(real).is_dir() and not _overlap(home, real) and not _is_ours(real, around):
            yield real


def _is_ours(path: str, around: Around) -> bool:
    return any(own and (_overlap(path, own) or _overlap(own, path)) for own in (around.config, around.state))
