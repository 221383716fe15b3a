"""`sandbox.toml` of the user and of the project: profiles of one's own, strictly read."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grokmini.files.regular import read_start
from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.profile import BUILT_IN, DEFAULT, FILE, OFF, Profile, built_in
from grokmini.text.nearest import nearest

MAX_BYTES: Final = 1_000_000
_LISTS: Final = ("read", "write", "deny")
TAKES: Final = {
    "extends": "the name of a profile",
    "read": "a list of folders",
    "write": "a list of folders",
    "deny": "a list of paths and globs",
    "network": '"open" or "blocked"',
    "allow_unix": "true or false",
    "env": "a table of names and texts",
}
"""What each key of a profile takes, in words."""


class Profiles:
    """Every profile there is, by name."""

    def __init__(self, tables: Mapping[str, Mapping[str, Any]], digests: Mapping[str, str]) -> None:
        self._tables = tables
        self._digests = digests

    @property
    def names(self) -> tuple[str, ...]:
        """Built-in ones first."""
        return (*BUILT_IN, *sorted(self._tables))

    def find(self, name: str) -> Profile:
        """The profile of that name. Raises `SandboxError` for an unknown one, a cycle, or one that extends `off`."""
        return self._resolved(name, ())

    def _resolved(self, name: str, above: tuple[str, ...]) -> Profile:
        if name in above:
            raise SandboxError(
                f"the sandbox profiles {' -> '.join((*above, name))} extend each other",
                f"Change one in {FILE}.",
            )
        if name in BUILT_IN:
            return built_in(name)
        table = self._tables.get(name)
        if table is None:
            close = nearest(name, self.names, 1)
            meant = f"did you mean {close[0]}? " if close else ""
            by = f", which {above[-1]!r} in {FILE} extends" if above else ""
            raise SandboxError(
                f"there is no sandbox profile {name!r}{by}", f"{meant}There are: {', '.join(self.names)}."
            )
        parent = self._resolved(table.get("extends", DEFAULT), (*above, name))
        if parent.base == OFF:
            raise SandboxError(
                f"the sandbox profile {name!r} extends off", "Use off itself, or extend workspace."
            )
        joined = {key: (*getattr(parent, key), *table.get(key, ())) for key in _LISTS}
        env = {**dict(parent.env), **table.get("env", {})}
        digest = ",".join(filter(None, (parent.digest, self._digests.get(name, ""))))
        return Profile(
            name,
            parent.base,
            network=table.get("network", parent.network),
            allow_unix=table.get("allow_unix", parent.allow_unix),
            env=tuple(sorted(env.items())),
            digest=digest,
            **joined,
        )


def read_profiles(user: Path | None, project: Path | None) -> Profiles:
    """The profiles of both files; a missing file holds none. The project may add names, never redefine one.

    Raises `SandboxError` for a file that cannot be read or understood: it never counts as empty.
    """
    tables = _read(user) if user is not None else {}
    digests: dict[str, str] = {}
    for name, table in (_read(project) if project is not None else {}).items():
        if name in tables:
            raise SandboxError(
                f"{project} redefines the sandbox profile {name!r} of your own",
                "Rename it there; yours stands.",
            )
        tables[name] = table
        digests[name] = hashlib.sha256(f"{project}\0{name}\0{_canonical(table)}".encode()).hexdigest()
    return Profiles(tables, digests)


def _canonical(table: Mapping[str, Any]) -> str:
    return repr(
        sorted(
            (key, sorted(value.items()) if isinstance(value, dict) else value) for key, value in table.items()
        )
    )


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        data = read_start(path, MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise SandboxError(
            f"{path} cannot be read: {error.strerror}", "Check it: it says what is denied."
        ) from error
    try:
        if len(data) > MAX_BYTES:
            raise ValueError("too large")
        table = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise SandboxError(
            f"{path} is no valid TOML: {error}", "Fix it or move it away; it never counts as empty."
        ) from None
    unknown = [key for key in table if key != "profiles"]
    if unknown or not isinstance(table.get("profiles", {}), dict):
        raise SandboxError(f"{path} holds more than [profiles.NAME]", "Write every profile as [profiles.NAME].")
    profiles: dict[str, dict[str, Any]] = table.get("profiles", {})
    for name, entry in profiles.items():
        _check(path, name, entry)
    return profiles


def _check(path: Path, name: str, entry: Any) -> None:
    where = f"{path}: profiles.{name}"
    if name in BUILT_IN:
        raise SandboxError(
            f"{where} redefines a built-in profile", "Give it another name and extend the built-in one."
        )
    if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
        raise SandboxError(f"{path} holds a profile with the name {name!r}", "Use letters, digits, - and _.")
    if not isinstance(entry, dict):
        raise SandboxError(f"{where} is no table", "Write [profiles.NAME] and its keys below.")
    for key, value in entry.items():
        if key not in TAKES:
            raise SandboxError(f"{where} has the unknown key {key!r}", f"Known: {', '.join(TAKES)}.")
        if not _fits(key, value):
            raise SandboxError(
                f"{where}.{key} has a value that is not allowed",
                f"It takes {TAKES[key]}, without control characters; `grokmini sandbox --help` says more.",
            )


def _fits(key: str, value: Any) -> bool:
    match key:
        case "extends":
            return isinstance(value, str)
        case "network":
            return value in ("open", "blocked")
        case "allow_unix":
            return isinstance(value, bool)
        case "env":
            return isinstance(value, dict) and all(
                isinstance(inner, str) and "\0" not in inner and name.isidentifier()
                for name, inner in value.items()
            )
    return isinstance(value, list) and all(isinstance(one, str) and one and _is_plain(one) for one in value)


def _is_plain(text: str) -> bool:
    return all(ord(character) >= 32 and ord(character) != 127 for character in text)
