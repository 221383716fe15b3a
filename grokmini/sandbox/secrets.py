"""Files that hold keys and tokens, and sockets that lead out of any sandbox: what `protect_secrets` masks."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_PRIVATE_KEY: Final = re.compile(rb"PRIVATE KEY|SSH PRIVATE KEY FILE|PuTTY-User-Key-File")
_TOKEN: Final = re.compile(
    rb"_authToken|_auth\b|_password|password|\"auth\"|identitytoken|://[^/\s@]+:[^/\s@]+@", re.I
)
_LOOKED_AT: Final = 65_536

_ALWAYS: Final = (
    ".aws/credentials", ".aws/sso/cache", ".aws/cli/cache", ".azure/msal_token_cache.json", ".netrc", "_netrc",
    ".git-credentials", ".config/git/credentials", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml",
    ".kube/config", ".gnupg/private-keys-v1.d", ".gnupg/secring.gpg",
    ".config/gh/hosts.yml", ".config/gcloud/credentials.db", ".config/gcloud/access_tokens.db",
    ".config/gcloud/legacy_credentials", ".config/gcloud/application_default_credentials.json",
    ".mozilla/firefox", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
    ".config/microsoft-edge", ".config/vivaldi", ".config/opera", "snap/firefox/common/.mozilla",
    ".var/app/org.mozilla.firefox", ".var/app/com.google.Chrome", ".local/share/keyrings",
)  # fmt: skip
_WITH_TOKEN: Final = (".npmrc", ".config/pip/pip.conf", ".pip/pip.conf", ".docker/config.json")
_SOCKETS: Final = (
    "/run/docker.sock", "/var/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
)  # fmt: skip
_USER_SOCKETS: Final = ("docker.sock", "podman/podman.sock", "containerd-rootless/containerd.sock", "gnupg")
OWN_KEYS: Final = ("auth.json", "credentials.json")


def secret_paths(home: str, env: Mapping[str, str], own: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that are there now, with links resolved. `own` are our own folders that may hold keys. Blocks."""
    found = dict.fromkeys(map(os.path.realpath, _there(home, env, own)))
    return tuple(sorted(found))


def _there(home: str, env: Mapping[str, str], own: tuple[str, ...]) -> Iterator[str]:
    base = Path(home)
    yield from (str(base / name) for name in _ALWAYS if (base / name).exists())
    yield from (str(base / name) for name in _WITH_TOKEN if _holds(base / name, _TOKEN))
    yield from _private_keys(base / ".ssh")
    yield from (
        str(Path(folder) / name) for folder in own for name in OWN_KEYS if (Path(folder) / name).exists()
    )
    runtime = env.get("XDG_RUNTIME_DIR", "") or f"/run/user/{os.getuid()}"
    sockets = [*_SOCKETS, *(f"{runtime}/{name}" for name in _USER_SOCKETS), env.get("SSH_AUTH_SOCK", "")]
    if env.get("DOCKER_HOST", "").startswith("unix://"):
        sockets.append(env["DOCKER_HOST"].removeprefix("unix://"))
    yield from (path for path in sockets if path.startswith("/") and Path(path).exists())


def _private_keys(folder: Path) -> Iterator[str]:
    """The files that are private keys, going by what is in them: `known_hosts`, `config` and `*.pub` are not."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return
    yield from (str(folder / name) for name in names if _holds(folder / name, _PRIVATE_KEY))


def _holds(path: Path, what: re.Pattern[bytes]) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        return what.search(file.read(_LOOKED_AT)) is not None
