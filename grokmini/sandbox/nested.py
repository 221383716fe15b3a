"""Repositories that git goes into from another: those that an index names, and one that a `.git` file names.

A plain `git status` goes into them and obeys their settings, whoever made them. Into others that lie in a folder only
people go: these are looked for once, before commands run (`repositories_in`). Runs no git.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.files.git_settings import common_folder, executable_setting, git_folder_of, gitlinks

_MOST: Final = 200
_DEEP: Final = 2
_LOOKED_AT: Final = 2_000
_MOST_FOUND: Final = 20
_OF_TOOLS: Final = frozenset({"node_modules", "build", "dist", "target", "__pycache__"})
"""Folders that tools fill and remove again."""
_CLOCK: Final = 1_000_000_000
"""Nanoseconds by which the clocks of file systems are behind, with plenty to spare."""
_SETTINGS: Final = ("config", "config.worktree")


class Repository(NamedTuple):
    """The folder of files, what is called `.git` there, and the real git folder that it leads to."""

    top: str
    marker: str
    folder: str


def repositories(cwd: str) -> Iterator[Repository]:
    """The repository that git finds from a folder, and those in it that its index names, and theirs."""
    real = Path(os.path.realpath(cwd))
    top = next((one for one in (real, *real.parents) if os.path.lexists(one / ".git")), None)
    waiting = [found for found in (top and repository_at(str(top)),) if found]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST:
        one = waiting.pop(0)
        if one.folder in seen:
            continue
        seen.add(one.folder)
        yield one
        below = (repository_at(f"{one.top}/{path}") for path in _links_of(one.folder) if _is_within(path))
        waiting += (found for found in below if found)


def repositories_in(cwd: str) -> tuple[str, ...]:
    """The folders right in this one, or in one of its folders, that are repositories of their own: a person's, before
    any command. Links are not followed, nor are folders looked into that tools fill. Blocks.
    """
    found: list[str] = []
    waiting, left = [(cwd, 0)], _LOOKED_AT
    for folder, depth in waiting:  # which grows meanwhile
        try:
            with os.scandir(folder) as entries:
                for entry in islice(entries, left):
                    left -= 1
                    if (
                        entry.name[0] == "."
                        or entry.name in _OF_TOOLS
                        or not entry.is_dir(follow_symlinks=False)
                    ):
                        continue
                    if os.path.isfile(f"{entry.path}/.git/HEAD") and not os.path.islink(f"{entry.path}/.git"):
                        found.append(entry.path)
                    elif depth + 1 < _DEEP:
                        waiting.append((entry.path, depth + 1))
        except OSError:
            continue
    return tuple(sorted(found)[:_MOST_FOUND])


class GitWatch:
    """What commands left in the settings of repositories for git to run, besides what was there at the first look."""

    def __init__(self) -> None:
        self._looked_at: dict[str, tuple[tuple[int, ...], str]] = {}
        self._known: set[str] | None = None
        self.told: tuple[str, ...] = ()

    def look(self, roots: Iterable[str]) -> bool:
        """Look at the repositories in these folders; whether there is something new to tell."""
        found = {
            reason: one.top for root in roots for one in repositories(root) for reason in self._reasons(one)
        }
        if self._known is None:
            self._known = set(found)
        new = [reason for reason in found if reason not in self._known]
        self._known.update(new)
        self.told += tuple(
            f"git settings: {reason}, since a command: a plain `git status` in {found[reason]} or above would run "
            "what that names, outside of the sandbox. Look at it before git is used there."
            for reason in new
        )
        return bool(new)

    def _reasons(self, one: Repository) -> Iterator[str]:
        if os.path.isdir(one.folder) and not os.access(one.folder, os.X_OK):
            yield f"{one.folder} cannot be looked into"
        for folder in dict.fromkeys((one.folder, settings_of(one))):
            for name in _SETTINGS:
                if reason := self._reason(f"{folder}/{name}"):
                    yield reason

    def _reason(self, path: str) -> str:
        now = _identity(path)
        if not now:
            return ""
        before, reason = self._looked_at.get(path, ((), ""))
        if before != now:
            reason = executable_setting(Path(path))
            if reason.endswith(" sets core.worktree") and "/modules/" in path:
                reason = ""  # git itself writes that for a submodule
            self._looked_at[path] = (now, reason)
        return reason


def repository_at(top: str) -> Repository | None:
    """The repository whose files are in that folder, None where there is none."""
    marker = f"{top}/.git"
    if os.path.isdir(marker):
        return Repository(top, marker, os.path.realpath(marker))
    try:
        return Repository(top, marker, git_folder_of(marker))
    except OSError:
        return None


def settings_of(one: Repository) -> str:
    """The folder of its settings, which worktrees share."""
    try:
        return common_folder(one.folder)
    except OSError:
        return one.folder


def _is_within(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/")


def _links_of(folder: str) -> tuple[str, ...]:
    index = f"{folder}/index"
    identity = _identity(index)
    try:
        return _read_links(index, identity) if identity else ()
    except OSError:
        return ()


@lru_cache(maxsize=_MOST)
def _read_links(index: str, _identity_then: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(gitlinks(Path(index)))


def _identity(path: str) -> tuple[int, ...]:
    """What is equal only for the same file with the same content; nothing where there is none."""
    try:
        info = os.stat(path)
    except OSError:
        return ()
    now = time.time_ns()
    young = now if info.st_ctime_ns > now - _CLOCK else 0  # it can change again without its times changing
    return (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns, young)
