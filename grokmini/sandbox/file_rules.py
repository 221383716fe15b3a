"""A policy as rules about real paths and about the identity of files: what may be read, what written, and why not."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from grokmini.files.descriptors import folders_above
from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.globs import expand, expression
from grokmini.sandbox.landlock import KERNEL_FOLDERS, writable_roots
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.roots import readable_roots
from grokmini.text.below import is_below
from grokmini.text.some import some_of

_EDITABLE: Final = "/.git/config"
"""Read-only for commands; our own edits of it are shown to the person first."""
_SHOWN: Final = 4
_MAX_ENTRIES: Final = 2_000
_DEVICES: Final = "/dev"
_CLOCK: Final = 1_000_000_000
"""Nanoseconds by which the clocks of file systems are behind, with plenty to spare."""


class FileRules:
    """The rules of one policy. Links in its paths are resolved once, here, but for its writable folders."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.profile = policy.profile
        self.any = not (
            policy.read_all
            and policy.write_all
            and not (policy.protected or policy.denied or policy.denied_globs)
        )
        self._denied = _Identities(_real(policy.denied))
        self._protected = _Identities(_real(path for path in policy.protected if not path.endswith(_EDITABLE)))
        self._globs = [
            (glob, re.compile(expression(glob, below=True), re.DOTALL)) for glob in policy.denied_globs
        ]
        self._late: dict[tuple[int, int], str] = {}
        self._looked_at = 0
        # Roots are real paths: one that leads elsewhere by now is not followed.
        self._private = frozenset(filter(None, (policy.scratch, *policy.caches)))
        self._writable = writable_roots(policy)
        # Where people want files to be: nobody means the scratch folder or a cache.
        self._aims = tuple(dict.fromkeys((*policy.write_roots, *policy.temp)))
        self._readable = (*_real(readable_roots(policy)), *self._writable)

    def why_not_read(self, path: str) -> str:
        """The rule that keeps a real path from being read or listed; empty when there is none."""
        if denied := self.why_denied(path):
            return denied
        if path.startswith("/proc/") and path[6:].partition("/")[0].isdigit():
            return "what the system tells about running programs can hold keys"
        if self.policy.read_all or path == _DEVICES or _covering(path, ("/proc", *self._readable)):
            return ""
        return f"only {_some(self._readable)} can be read"

    def why_not_written(self, path: str) -> str:
        """The rule that keeps a real path from being made, replaced or written; empty when there is none."""
        if denied := self.why_denied(path):
            return denied
        for above in _lineage(path):
            if above in self._private:
                return ""
            if above in self._protected.paths:
                return f"{above} stays read-only"
        if self.policy.write_all:
            kernel = _covering(path, KERNEL_FOLDERS)
            return f"{kernel} is the system's own" if kernel else ""
        return "" if _covering(path, self._writable) else f"only {_some(self._aims)} can be written"

    def why_denied(self, path: str) -> str:
        """The rule that denies a real path whatever is done with it; empty when there is none."""
        denied = self._denied.covering(path)
        denied = denied or next((glob for glob, wanted in self._globs if wanted.match(path)), "")
        return f"{denied} is denied" if denied else ""

    def hidden_alias(self, fd: int) -> str:
        """The rule for an open file or folder that is a denied one, or in one, by another name."""
        status = os.fstat(fd)
        if denied := self._denied.path_of(status) or self._late_match(status):
            return f"it is {denied} by another name, which is denied"
        if self._denied.folders:
            for status in folders_above(fd):
                if denied := self._denied.path_of(status):
                    return f"it is in {denied}, which is denied"
        return ""

    def alias_of(self, path: str, folder: int | None = None) -> str:
        """The rule for a file that is a denied one by another name; links are not followed."""
        try:
            status = os.stat(path, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return ""
        denied = self._denied.path_of(status) or self._late_match(status)
        return f"it is {denied} by another name, which is denied" if denied else ""

    def _late_match(self, status: os.stat_result) -> str:
        """The path of a file that has several names, where one of them matches a denied glob since the policy was
        made. To give a file a name changes it, so what has not changed since the last look needs none.
        """
        if not self._globs or status.st_nlink < 2 or not stat.S_ISREG(status.st_mode):
            return ""
        if status.st_ctime_ns >= self._looked_at - _CLOCK:
            self._looked_at = time.time_ns()
            try:
                found = [path for glob in self.policy.denied_globs for path in expand(glob)]
            except SandboxError:  # too much to look at: any file with several names may be one
                return " or ".join(self.policy.denied_globs)
            self._late = dict(_identities(found))
        return self._late.get((status.st_dev, status.st_ino), "")

    def protected_alias(self, fd: int) -> str:
        """The rule for an open file that is a protected one, or right in a protected folder, by another name."""
        status = os.fstat(fd)
        if status.st_nlink < 2:
            return ""
        for path in self._protected.paths:
            if any(os.path.samestat(status, one) for one in _with_entries(path)):
                return f"it is in {path} by another name, which stays read-only"
        return ""


class _Seen(NamedTuple):
    path: str
    is_folder: bool
    modified: int
    size: int


class _Identities:
    """Paths, and which files they are: a file is known again by another name, and after it was moved."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = frozenset(paths)
        self._seen: dict[tuple[int, int], _Seen] = {}
        self._look()
        self.folders = any(seen.is_folder for seen in self._seen.values())

    def covering(self, path: str) -> str:
        """The one of the paths that it is or lies below; empty when there is none."""
        return next((above for above in _lineage(path) if above in self.paths), "") if self.paths else ""

    def path_of(self, status: os.stat_result) -> str:
        """The path of the file with that identity; empty when it is none of them."""
        if not self.paths:
            return ""
        if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
            self._look()  # a name may have been given since, to a file that took the place of the one seen then
        seen = self._seen.get((status.st_dev, status.st_ino))
        if seen is None or seen.is_folder != stat.S_ISDIR(status.st_mode):
            return ""
        if seen.is_folder or (seen.modified, seen.size) == (status.st_mtime_ns, status.st_size):
            return seen.path
        return seen.path if _is(seen.path, status) else ""  # else the number was given to a new file

    def _look(self) -> None:
        for path in self.paths:
            try:
                status = os.lstat(path)
            except OSError:
                continue
            seen = _Seen(path, stat.S_ISDIR(status.st_mode), status.st_mtime_ns, status.st_size)
            self._seen[(status.st_dev, status.st_ino)] = seen


def _identities(paths: Iterable[str]) -> Iterator[tuple[tuple[int, int], str]]:
    for path in paths:
        try:
            status = os.lstat(path)
        except OSError:
            continue
        yield (status.st_dev, status.st_ino), path


def _is(path: str, status: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.lstat(path), status)
    except OSError:
        return False


def _with_entries(path: str) -> Iterator[os.stat_result]:
    try:
        yield os.lstat(path)
        with os.scandir(path) as entries:
            for entry, _ in zip(entries, range(_MAX_ENTRIES), strict=False):
                yield os.lstat(entry.path)
    except OSError:
        return


def _real(paths: Iterable[str]) -> list[str]:
    """Each path as given and with its links resolved, once."""
    return list(dict.fromkeys(form for path in paths for form in (path, os.path.realpath(path))))


def _lineage(path: str) -> Iterator[str]:
    """The path and the folders it is in."""
    while path != "/":
        yield path
        path = path.rpartition("/")[0] or "/"
    yield "/"


def _covering(path: str, roots: Iterable[str]) -> str:
    return next((root for root in roots if is_below(path, root)), "")


def _some(roots: tuple[str, ...]) -> str:
    return some_of(roots, _SHOWN) or "nothing"
