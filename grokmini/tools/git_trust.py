"""Whether reading a repository with git could run programs that the repository itself names.

Git obeys the repository's own configuration: a file-system monitor, a pager, filters, a diff program. In a folder
that came from elsewhere these are somebody else's commands, so git is then asked about. The user's own global
configuration is trusted. Nothing here runs git.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.files.git_settings import common_folder, executable_setting, git_folder_of, gitlinks
from grokmini.files.places import real_path
from grokmini.files.regular import read_start

MAX_REPOSITORIES = 200
_LONGEST_HEAD: Final = 256
_LINK: Final = re.compile(rb"refs/")
_HEAD: Final = re.compile(rb"ref:\s*refs/|[0-9a-f]{40}")


class _Found(NamedTuple):
    """A git folder and, when there is one, the folder of its files."""

    git_dir: Path
    files: Path | None = None


def runs_programs(folder: Path) -> str:
    """What makes git in that folder able to run the repository's programs; empty when nothing does.

    Whatever cannot be read or understood counts as able.
    """
    try:
        waiting = list(_git_dirs(folder))
    except OSError:
        return "its .git cannot be read"
    seen = set[Path]()
    while waiting:
        current = waiting.pop()
        if current.git_dir in seen:
            continue
        seen.add(current.git_dir)
        if len(seen) > MAX_REPOSITORIES:
            return "it has more submodules than can be looked at"
        try:
            if reason := _objection(current.git_dir):
                return reason
            waiting += _submodules(current)
        except OSError:
            return f"{current.git_dir} cannot be read"
    return ""


def _git_dirs(folder: Path) -> Iterator[_Found]:
    """The git folders that git may use there, the last one the one it surely would if it uses none before: `.git`,
    what a `.git` file names, or a bare repository. Git passes over what is no whole git folder.
    """
    real = real_path(folder)
    for candidate in (real, *real.parents):
        marker = candidate / ".git"
        if marker.is_file():
            yield _Found(Path(git_folder_of(marker)), candidate)
            return
        for git_dir, files in ((marker, candidate), (candidate, None)):
            if os.path.lexists(git_dir / "HEAD"):
                yield _Found(git_dir, files)
                if _is_whole(git_dir):
                    return


def _is_whole(git_dir: Path) -> bool:
    """Whether git surely takes it for a git folder."""
    head = git_dir / "HEAD"
    try:
        named = os.fsencode(head.readlink()) if head.is_symlink() else read_start(head, _LONGEST_HEAD)
    except OSError:
        return False
    return (
        (_LINK if head.is_symlink() else _HEAD).match(named) is not None
        and not os.path.lexists(git_dir / "commondir")
        and all(
            os.path.isdir(part) and os.access(part, os.X_OK) for part in (git_dir / "objects", git_dir / "refs")
        )
    )


def _objection(git_dir: Path) -> str:
    common = Path(common_folder(git_dir))
    for file in {common / "config", common / "config.worktree", git_dir / "config.worktree"}:
        if reason := executable_setting(file):
            return reason
    for folder in {common, git_dir}:
        hook = folder / "hooks" / "post-index-change"
        if os.access(hook, os.X_OK):
            return f"{hook} would run"
    return ""


def _submodules(one: _Found) -> list[_Found]:
    """The git folders that git would go into for submodules. Raises `OSError` when they cannot be told."""
    found: list[_Found] = []
    modules = one.git_dir / "modules"
    if modules.is_dir():
        for at, folders, files in os.walk(modules):
            if "HEAD" in files and "objects" in folders:
                found.append(_Found(Path(at)))
                folders[:] = [name for name in folders if name == "modules"]
            if len(found) > MAX_REPOSITORIES:
                return found
    if one.files is None:
        return found
    for path in gitlinks(one.git_dir / "index"):
        files_there = one.files / path
        marker = files_there / ".git"
        if marker.is_file():
            found.append(_Found(Path(git_folder_of(marker)), files_there))
        elif marker.is_dir():
            found.append(_Found(marker, files_there))
    return found
