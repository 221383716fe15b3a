"""Whether reading a repository with git could run programs that the repository itself names.

Git obeys the repository's own configuration: a file-system monitor, a pager, filters, a diff program. In a folder
that came from elsewhere these are somebody else's commands, so git is then asked about. The user's own global
configuration is trusted. Nothing here runs git.
"""

from __future__ import annotations

import os
from pathlib import Path

from grokmini.text.git_settings import common_folder, executable_setting, git_folder_of, gitlinks
from grokmini.text.paths import real_path

MAX_REPOSITORIES = 200


def runs_programs(folder: Path) -> str:
    """What makes git in that folder able to run the repository's programs; empty when nothing does.

    Whatever cannot be read or understood counts as able.
    """
    try:
        git_dir = _find_git_dir(folder)
    except OSError:
        return "its .git cannot be read"
    if git_dir is None:
        return ""
    waiting, seen = [git_dir], set[Path]()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        if len(seen) > MAX_REPOSITORIES:
            return "it has more submodules than can be looked at"
        try:
            if reason := _objection(current):
                return reason
            waiting += _submodules(current)
        except OSError:
            return f"{current} cannot be read"
    return ""


def _find_git_dir(folder: Path) -> Path | None:
    """The git folder that git would use there: `.git`, what a `.git` file names, or a bare repository."""
    real = real_path(folder)
    for candidate in (real, *real.parents):
        marker = candidate / ".git"
        if marker.is_dir():
            return marker
        if marker.is_file():
            return Path(git_folder_of(marker))
        if (
            (candidate / "HEAD").is_file()
            and (candidate / "objects").is_dir()
            and (candidate / "refs").is_dir()
        ):
            return candidate
    return None


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


def _submodules(git_dir: Path) -> list[Path]:
    """The git folders that git would go into for submodules. Raises `OSError` when they cannot be told."""
    found: list[Path] = []
    modules = git_dir / "modules"
    if modules.is_dir():
        for at, folders, files in os.walk(modules):
            if "HEAD" in files and "objects" in folders:
                found.append(Path(at))
                folders[:] = [name for name in folders if name == "modules"]
            if len(found) > MAX_REPOSITORIES:
                return found
    worktree = git_dir.parent
    for path in gitlinks(git_dir / "index"):
        marker = worktree / path / ".git"
        if marker.is_file():
            found.append(Path(git_folder_of(marker)))
        elif marker.is_dir():
            found.append(marker)
    return found
