"""What was answered with "always in this repository": `{state}/grants.json`, by the repository's real root.

The file is read anew for each change and replaced in one step, under a lock, so that sessions running beside one
another lose nothing. A file that cannot be understood grants nothing, and is kept aside before a new one is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from grokmini.config.paths import write_private
from grokmini.files.private import make_private_folder
from grokmini.protocol.errors import ConfigError

GRANTS_FILE = "grants.json"
MAX_BYTES = 4_000_000


class _Grants(msgspec.Struct, forbid_unknown_fields=True):
    repositories: dict[str, list[str]] = {}
    version: int = 1


class GrantFile:
    """The grants in one file. `path` None (no home): they are kept in memory for this session."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._memory = _Grants()

    def granted(self, repository: Path) -> tuple[str, ...]:
        """The rules allowed in the repository with that real root; none when the file cannot be read or understood:
        then everything is asked again.
        """
        if self._path is None:
            grants = self._memory
        else:
            try:
                grants = _read(self._path) or _Grants()
            except OSError:
                grants = _Grants()
        return tuple(grants.repositories.get(str(repository), ()))

    def grant(self, repository: Path, rule: str) -> None:
        """Allow one more rule there. Raises `ConfigError` when it cannot be written."""
        if self._path is None:
            _add(self._memory, repository, rule)
            return
        try:
            with _locked(self._path):
                grants = _read(self._path)
                if grants is None:
                    self._path.rename(self._path.with_suffix(".damaged"))
                    grants = _Grants()
                _add(grants, repository, rule)
                write_private(self._path, msgspec.json.format(msgspec.json.encode(grants), indent=2) + b"\n")
        except OSError as error:
            raise ConfigError(
                f"{self._path} cannot be written: {error.strerror}",
                "the answer holds for this session only; check the folder's permissions and the disk",
            ) from error


def _add(grants: _Grants, repository: Path, rule: str) -> None:
    rules = grants.repositories.setdefault(str(repository), [])
    if rule not in rules:
        rules.append(rule)


def _read(path: Path) -> _Grants | None:
    """What the file holds, nothing when it is not there; None when it cannot be understood. Raises `OSError`."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return _Grants()
    try:
        grants = msgspec.json.decode(data, type=_Grants)
    except msgspec.DecodeError:
        return None
    return grants if grants.version == 1 else None


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file beside `path`."""
    import fcntl
    import os

    make_private_folder(path.parent)
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
