"""Files that hold keys and tokens, and sockets that lead out of any sandbox: what `protect_secrets` masks.

Looks at what is there now and starts nothing. Settings of programs that need them for more than a token (`.npmrc`,
`pip.conf`) are masked only while a token is in them; npm and pip then go on as if there were none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from grokmini.files.regular import read_start
from grokmini.sandbox.closed import closed_folder, is_own, may_be_there
from grokmini.sandbox.sockets import sockets_out

_PRIVATE_KEY: Final = re.compile(rb"PRIVATE KEY|SSH PRIVATE KEY FILE|PuTTY-User-Key-File")
_TOKEN: Final = re.compile(
    rb"_authToken|_auth\b|_password|password|\"auth\"|identitytoken|://[^/\s@]+:[^/\s@]+@", re.I
)
_LOOKED_AT: Final = 65_536
_MAX_KEY_FILES: Final = 400

_IN_HOME: Final = (
    ".aws/credentials", ".aws/sso/cache", ".aws/cli/cache", ".azure/msal_token_cache.json", ".netrc", "_netrc",
    ".git-credentials", ".pypirc", ".cargo/credentials", ".cargo/credentials.toml", ".kube/config",
    ".gnupg/private-keys-v1.d", ".gnupg/secring.gpg",
    ".mozilla/firefox", ".librewolf", ".thunderbird", "snap/firefox/common/.mozilla", "snap/chromium/common/chromium",
    ".var/app/org.mozilla.firefox", ".var/app/com.google.Chrome", ".var/app/org.chromium.Chromium",
    ".var/app/com.brave.Browser", ".var/app/com.microsoft.Edge",
    ".local/share/keyrings", ".local/share/kwalletd",
    "Library/Keychains", "Library/Cookies", "Library/Safari", "Library/Application Support/Firefox",
    "Library/Application Support/Google/Chrome", "Library/Application Support/Chromium",
    "Library/Application Support/BraveSoftware", "Library/Application Support/Microsoft Edge",
)  # fmt: skip
_IN_CONFIG: Final = (
    "git/credentials", "gh/hosts.yml", "google-chrome", "chromium", "BraveSoftware", "microsoft-edge", "vivaldi",
    "opera", "mozilla/firefox",
)  # fmt: skip
_IN_GCLOUD: Final = (
    "credentials.db", "access_tokens.db", "legacy_credentials", "application_default_credentials.json",
)  # fmt: skip
_WITH_TOKEN: Final = (".npmrc", ".pip/pip.conf", ".docker/config.json", ".config/containers/auth.json")
_MOVED: Final = ("AWS_SHARED_CREDENTIALS_FILE", "NETRC", "KUBECONFIG", "GOOGLE_APPLICATION_CREDENTIALS")
"""Variables that name a file of secrets elsewhere."""
_MOVED_WITH_TOKEN: Final = ("npm_config_userconfig", "NPM_CONFIG_USERCONFIG", "PIP_CONFIG_FILE")
_MOVED_FOLDERS: Final = (
    ("GH_CONFIG_DIR", ("hosts.yml",)),
    ("CLOUDSDK_CONFIG", _IN_GCLOUD),
    ("GNUPGHOME", ("private-keys-v1.d", "secring.gpg", "S.gpg-agent", "S.gpg-agent.extra")),
)
OWN_KEYS: Final = ("auth.json", "credentials.json")


def secret_paths(home: str, env: Mapping[str, str], own: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that are or may be there, with links resolved. `own` are our own folders that may hold keys. Blocks."""
    files = (path for path in _files(home, env, own) if may_be_there(path))
    sockets = (path for path in sockets_out(home, env) if may_be_there(path))
    found = dict.fromkeys(map(os.path.realpath, (*files, *_with_content(Path(home), env), *sockets)))
    return tuple(path for path in sorted(found) if not any(str(above) in found for above in Path(path).parents))


def _files(home: str, env: Mapping[str, str], own: tuple[str, ...]) -> Iterator[str]:
    config = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    yield from (f"{home}/{name}" for name in _IN_HOME)
    for folder in dict.fromkeys((f"{home}/.config", config)):
        yield from (f"{folder}/{name}" for name in _IN_CONFIG)
        yield from (f"{folder}/gcloud/{name}" for name in _IN_GCLOUD)
    for variable in _MOVED:
        yield from (path for path in env.get(variable, "").split(os.pathsep) if path.startswith("/"))
    for variable, names in _MOVED_FOLDERS:
        if env.get(variable, "").startswith("/"):
            yield from (f"{env[variable]}/{name}" for name in names)
    yield from (f"{folder}/{name}" for folder in own for name in OWN_KEYS)


def _with_content(home: Path, env: Mapping[str, str]) -> Iterator[str]:
    """Files that count only for what is in them: settings with a token, private keys among other things."""
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    places = [*(home / name for name in _WITH_TOKEN), home / ".config/pip/pip.conf", config / "pip/pip.conf"]
    places += [Path(env[name]) for name in _MOVED_WITH_TOKEN if env.get(name, "").startswith("/")]
    if env.get("DOCKER_CONFIG", "").startswith("/"):
        places.append(Path(env["DOCKER_CONFIG"], "config.json"))
    yield from (str(path) for path in dict.fromkeys(places) if _holds(path, _TOKEN))
    yield from _private_keys(home / ".ssh")


def _private_keys(folder: Path) -> Iterator[str]:
    """The files that are private keys, going by what is in them: `known_hosts`, `config` and `*.pub` are not."""
    if is_own(str(folder)) and not os.access(folder, os.R_OK | os.X_OK):
        yield str(folder)
    looked_at = 0
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            looked_at += 1
            if looked_at <= _MAX_KEY_FILES and _holds(Path(parent, name), _PRIVATE_KEY):
                yield str(Path(parent, name))


def _holds(path: Path, what: re.Pattern[bytes]) -> bool:
    try:
        return what.search(read_start(path, _LOOKED_AT)) is not None
    except PermissionError:  # ours can be opened again
        return is_own(str(path)) or bool(closed_folder(os.path.realpath(path)))
    except OSError:
        return False
