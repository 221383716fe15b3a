"""A repository's own folders: what commits have to write, and what in them steers git. Runs no git."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

_STEERS: Final = ("hooks", "config", "config.worktree", "info/attributes")
_MODULES: Final = 200


def _real_git_folder(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()


def git_folders(cwd: str) -> tuple[str, ...]:
    """The git folders that work in `cwd` writes: its own `.git`, and for a linked worktree the shared one.

    A `.git` file is a text anybody can write into a project: it counts only when the folder it names points
    back to it, or lies in the `.git` of a folder above.
    """
    real = Path(os.path.realpath(cwd))
    for folder in (real, *real.parents):
        dot = folder / ".git"
        if dot.is_dir() and not dot.is_symlink() and (folder == real or _real_git_folder(dot)):
            return (str(dot),)
        if dot.is_file():
            return _linked(folder, dot)
    return ()


def _linked(folder: Path, dot: Path) -> tuple[str, ...]:
    target = _pointer(dot, "gitdir: ")
    if target is None:
        return ()
    inner = Path(os.path.realpath(folder / target))
    back = _pointer(inner / "gitdir", "")
    common_text = _pointer(inner / "commondir", "")
    if back is not None and common_text is not None and os.path.realpath(inner / back) == str(dot):
        common = Path(os.path.realpath(inner / common_text))
        if _real_git_folder(common) and inner.parent == common / "worktrees":
            return (str(common),)
    above = [parent / ".git" for parent in folder.parents]
    if _real_git_folder(inner) and any(inner.is_relative_to(one / "modules") for one in above if one.is_dir()):
        return (str(inner),)
    return ()


def _pointer(path: Path, prefix: str) -> str | None:
    try:
        text = path.read_bytes()[:4096].decode().strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text.removeprefix(prefix) if text.startswith(prefix) and "\n" not in text else None


def git_roots(cwd: str) -> tuple[str, ...]:
    """The git folders that lie outside of `cwd`."""
    real = os.path.realpath(cwd)
    return tuple(folder for folder in git_folders(cwd) if not folder.startswith(real.rstrip("/") + "/"))


def git_protected(cwd: str) -> tuple[str, ...]:
    """What steers git in these folders, there or not; with no repository yet, where it would be."""
    folders = git_folders(cwd) or (f"{cwd}/.git",)
    found: list[str] = []
    for folder in folders:
        found += [f"{folder}/{name}" for name in ("hooks", "config")]
        found += [f"{folder}/{name}" for name in _STEERS[2:] if os.path.lexists(f"{folder}/{name}")]
        modules = sorted(Path(folder, "modules").glob("*/config"))[:_MODULES]
        found += [str(config.with_name(name)) for config in modules for name in ("hooks", "config")]
    return tuple(dict.fromkeys(found))


def make_hook_folders(protected: Iterable[str]) -> None:
    """Create the hook folders that repositories lack: what is not there cannot be mounted read-only."""
    for path in protected:
        hooks = Path(path)
        if hooks.name != "hooks" or os.path.lexists(path) or not (hooks.parent / "HEAD").is_file():
            continue
        if os.path.realpath(hooks.parent) == str(hooks.parent):
            with suppress(OSError):  # we cannot, so commands cannot either
                hooks.mkdir()
