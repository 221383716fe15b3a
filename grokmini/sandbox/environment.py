"""The neutral environment of commands: no keys, no pagers, no editors, nothing that waits for a person.

What holds for every child we start, whatever the sandbox profile (spec: sandbox.md "Always true";
decisions.md "Shell and git").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Final

from grokmini.sandbox.profile import DEFAULT, OFF, Profile
from grokmini.text.quiet import quiet_environment

_CACHE_VARIABLES: Final = {
    "PIP_CACHE_DIR": "pip",
    "npm_config_cache": "npm",
    "CARGO_HOME": "cargo",
    "GOCACHE": "go",
    "GOMODCACHE": "go/mod",
    "XDG_CACHE_HOME": "xdg",
}
_DIGEST: Final = 16
_SECRET_PARTS: Final = (
    "PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL", "WEBHOOK", "APIKEY", "ACCESSKEY", "PRIVATEKEY",
    "AUTHKEY",
)  # fmt: skip
"""A name that holds one of these anywhere is a secret's."""
_SECRET_WORDS: Final = frozenset({"PAT", "DSN", "JWT", "CREDS"})
_SECRET_PAIRS: Final = frozenset(
    {
        ("API", "KEY"),
        ("ACCESS", "KEY"),
        ("PRIVATE", "KEY"),
        ("AUTH", "KEY"),
        ("API", "KEYS"),
        ("CONNECTION", "STRING"),
    }
)
_SECRET_ENDS: Final = frozenset({"KEY", "KEYS", "PASS"})
_OPEN_KEYS: Final = frozenset({"PUBLIC", "GPG", "PGP", "SORT", "CACHE", "PRIMARY", "FOREIGN", "PARTITION"})
"""What stands before `_KEY` where that is none to keep: `GPG_KEY` is a fingerprint in many images."""
_OPEN_PARTS: Final = ("TOKENIZ", "TOKENIS", "MAX_TOKENS", "OUTPUT_TOKENS", "INPUT_TOKENS", "PASSWORD_STORE_DIR")
_OPEN_NAMES: Final = frozenset({"PWD", "OLDPWD"})
_PASSWORD_IN_URL: Final = (
    r"(?i)[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@|[?&;]\s*(?:password|passwd|pwd|token|secret)=[^&;\s]"
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of that name holds a key, token or password, going by the words of the name."""
    upper = name.upper()
    if upper in _OPEN_NAMES:
        return False
    for part in _OPEN_PARTS:
        upper = upper.replace(part, "")
    words = upper.split("_")
    return (
        any(part in upper for part in _SECRET_PARTS)
        or not _SECRET_WORDS.isdisjoint(words)
        or not _SECRET_PAIRS.isdisjoint(pairwise(words))
        or (len(words) > 1 and words[-1] in _SECRET_ENDS and words[-2] not in _OPEN_KEYS)
        or upper.endswith("PWD")
        or (upper.startswith("NPM_CONFIG_") and words[-1] == "AUTH")
    )


def is_secret_value(value: str) -> bool:
    """Whether a value holds a password: an address with `user:password@`, or with `password=` among its options."""
    return "://" in value and re.search(_PASSWORD_IN_URL, value) is not None


def neutral_environment(base: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """The environment a command gets, made from the one we were started in: quiet, and without anything that holds a
    key, token or password going by its name or value. What is named in `keep` stays all the same.
    """
    return {
        name: value
        for name, value in quiet_environment(base).items()
        if name in keep or not (is_secret_name(name) or is_secret_value(value))
    }


def profile_environment(profile: Profile, cache: str) -> dict[str, str]:
    """Variables that commands get besides: where package managers may keep what they fetch, the profile's own.

    `cache` is our folder for caches, empty for none.
    """
    if profile.base == OFF:
        return {}
    folder = tools_folder(profile, cache)
    found = {name: f"{folder}/{tool}" for name, tool in _CACHE_VARIABLES.items()} if folder else {}
    return {**found, **dict(profile.env)}


def tools_folder(profile: Profile, cache: str) -> str:
    """Where the caches are that commands under a profile may write, in our folder for caches; empty without one.

    What lies in a cache is run (settings, packages), so whoever may do less must not fill one for whoever may do more:
    each profile but the default has its own, one of a project's for each content. No profile's name holds a dot.
    """
    if not cache or profile.name == DEFAULT:
        return f"{cache}/tools" if cache else ""
    return f"{cache}/tools/{'.'.join(filter(None, ('in', profile.name, profile.digest[:_DIGEST])))}"
