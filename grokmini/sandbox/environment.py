"""The neutral environment of commands: no keys, no pagers, no editors, nothing that waits for a person.

What holds for every child we start, whatever the sandbox profile (spec: sandbox.md "Always true";
decisions.md "Shell and git").
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from grokmini.sandbox.profile import OFF, Profile
from grokmini.text.quiet import quiet_environment

_CACHE_VARIABLES: Final = {
    "PIP_CACHE_DIR": "pip",
    "npm_config_cache": "npm",
    "CARGO_HOME": "cargo",
    "GOCACHE": "go",
    "GOMODCACHE": "go/mod",
    "XDG_CACHE_HOME": "xdg",
}
_SECRET_WORDS: Final = frozenset(
    {
        "TOKEN",
        "SECRET",
        "SECRETS",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "APIKEY",
        "CREDENTIAL",
        "CREDENTIALS",
        "PAT",
    }
)
_SECRET_PAIRS: Final = frozenset(
    {("API", "KEY"), ("ACCESS", "KEY"), ("PRIVATE", "KEY"), ("AUTH", "KEY"), ("API", "KEYS")}
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of that name holds a key, token or password, going by the words of the name."""
    words = name.upper().split("_")
    if not _SECRET_WORDS.isdisjoint(words):
        return True
    return not _SECRET_PAIRS.isdisjoint(pairwise(words))


def neutral_environment(base: Mapping[str, str]) -> dict[str, str]:
    """The environment a command gets, made from the one we were started in: quiet, and without anything that holds a
    key, token or password going by its name.
    """
    return {name: value for name, value in quiet_environment(base).items() if not is_secret_name(name)}


def profile_environment(profile: Profile, cache: str) -> dict[str, str]:
    """Variables that commands get besides: where package managers may keep what they fetch, the profile's own.

    `cache` is our folder for caches, empty for none.
    """
    if profile.base == OFF:
        return {}
    found = {name: f"{cache}/tools/{tool}" for name, tool in _CACHE_VARIABLES.items()} if cache else {}
    return {**found, **dict(profile.env)}
