"""Sandbox profiles: what each of the built-in ones and of the person's own allows, before it meets a machine."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

OFF: Final = "off"
DEFAULT: Final = "workspace"
FILE: Final = "sandbox.toml"
"""Where profiles of one's own are, in the user's settings and in the project's folder."""
BUILT_IN: Final = ("off", "workspace", "read-only", "strict", "devbox")
_WIDTH: Final = {"off": 4, "devbox": 3, "workspace": 2, "read-only": 1, "strict": 0}


class Profile(NamedTuple):
    """A profile, `extends` resolved. `base` is the built-in one it comes from.

    `read`, `write` and `deny` hold paths and (deny) globs as written; `network` None is the base's.
    `digest` is the hash of what a project wrote, empty for built-in profiles and those of the user.
    """

    name: str
    base: str
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    network: Literal["open", "blocked"] | None = None
    allow_unix: bool = False
    env: tuple[tuple[str, str], ...] = ()
    digest: str = ""

    @property
    def blocks_network(self) -> bool:
        """Whether commands have no network."""
        return (self.network or _network_of(self.base)) == "blocked"

    @property
    def grants_more(self) -> bool:
        """Whether it lets commands do what `workspace` does not."""
        return bool(self.write or self.env) or _WIDTH[self.base] > _WIDTH[DEFAULT]


def _network_of(base: str) -> Literal["open", "blocked"]:
    return "blocked" if base in ("read-only", "strict") else "open"


def built_in(name: str) -> Profile:
    """The built-in profile of that name. Raises `KeyError`."""
    if name not in BUILT_IN:
        raise KeyError(name)
    return Profile(name, name)
