"""A repository's own folders: what commits have to write, and what in them steers git. Runs no git."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final

from grokmini.files.regular import read_start
from grokmini.sandbox.git_led_to import hooks_everywhere, led_to
from grokmini.sandbox.nested import Repository, repositories, repository_at
from grokmini.sandbox.redirections import opened
from grokmini.text.below import is_below

_ALWAYS: Final = ("hooks", "config")
_WHERE_THERE: Final = ("info/attributes", "commondir")
"""Attributes can be made where there are none: they only choose among programs that the settings name, and the
`.gitattributes` of the project do so as well."""
_MODULES: Final = 200
_LOOKED_AT: Final = 65_536
_WORKTREE: Final = re.compile(rb"^\s*worktree\s*=\s*(.+)$", re.M)


def _real_git_folder(path: Path) -> bool:
    return os.path.isfile(path / "HEAD") and os.path.isdir(path / "objects") and os.path.isdir(path / "refs")


def git_folders(cwd: str) -> tuple[str, ...]:
    """The git folders that work in `cwd` writes: its own `.git`, and for a linked worktree the shared one.

    A `.git` file is a text anybody can write into a project: it counts only when the folder it names points
    back to it, or lies in the `.git` of a folder above.
    """
    real = Path(os.path.realpath(cwd))
    for folder in (real, *real.parents):
        dot = folder / ".git"
        if os.path.isdir(dot) and not os.path.islink(dot) and (folder == real or _real_git_folder(dot)):
            return (str(dot),)
        if os.path.islink(dot) and _real_git_folder(dot):
            return (os.path.realpath(dot),)
        if os.path.isfile(dot):
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
    if _real_git_folder(inner) and any(
        inner.is_relative_to(one / "modules") for one in above if os.path.isdir(one)
    ):
        return (str(inner),)
    return ()


def _pointer(path: Path, prefix: str) -> str | None:
    try:
        text = read_start(path, 4096).decode().strip()
    except (OSError, UnicodeDecodeError):
        return None
    one_path = text.startswith(prefix) and "\n" not in text and "\0" not in text
    return text.removeprefix(prefix) if one_path else None


def git_roots(cwd: str) -> tuple[str, ...]:
    """The git folders that lie outside of `cwd`."""
    real = os.path.realpath(cwd)
    return tuple(folder for folder in git_folders(cwd) if not is_below(folder, real))


def git_protected(cwd: str, home: str = "", env: Mapping[str, str] = MappingProxyType({})) -> tuple[str, ...]:
    """What steers git in these folders, there or not; with no repository yet, where it would be."""
    known = git_folders(cwd)
    folders = dict.fromkeys(known or (f"{cwd}/.git",))
    found = list(_own_pointers(cwd))
    hooks = hooks_everywhere(home, env) if home else ()
    for number, one in enumerate(repositories(cwd)):
        found += _led_to(one, home, hooks)
        if number or not known:
            folders[one.folder] = None
            found += () if os.path.isdir(one.marker) else (one.marker,)
    for folder in folders:
        found += _steering(folder)
    return tuple(dict.fromkeys(found))


def git_besides(tops: Iterable[str], home: str, env: Mapping[str, str]) -> tuple[str, ...]:
    """What steers git in those of further folders that are repositories, there or not."""
    hooks = hooks_everywhere(home, env)
    found: list[str] = []
    for one in (repository_at(top) for top in tops if os.path.isdir(f"{top}/.git")):
        found += (*_led_to(one, home, hooks), *_steering(one.folder)) if one else ()
    return tuple(dict.fromkeys(found))


def _led_to(one: Repository, home: str, hooks: tuple[str, ...]) -> Iterator[str]:
    yield from led_to(one, home, hooks)
    if os.path.islink(one.marker):
        yield from (f"{one.marker}/{name}" for name in _ALWAYS)  # through the link, which is told by that


def _steering(folder: str) -> Iterator[str]:
    """What steers git in a git folder, and in those of its submodules."""
    yield from (f"{folder}/{name}" for name in _ALWAYS)
    yield from (f"{folder}/{name}" for name in _WHERE_THERE if os.path.lexists(f"{folder}/{name}"))
    yield from _worktree_settings(folder)
    for module in islice(_modules(Path(folder, "modules")), _MODULES):
        yield from (str(module / name) for name in _ALWAYS)
        yield from _worktree_settings(str(module))
        yield from _worktree_pointer(module)


def _worktree_settings(folder: str) -> Iterator[str]:
    """The further settings of each worktree, there or not, where git reads them."""
    try:
        asked = b"worktreeconfig" in read_start(f"{folder}/config", _LOOKED_AT).lower()
    except OSError:
        return
    linked = islice(sorted(Path(folder).glob("worktrees/*/HEAD")), _MODULES)
    for one in (Path(folder), *(head.parent for head in linked)):
        if asked or os.path.lexists(one / "config.worktree"):
            yield str(one / "config.worktree")


def _own_pointers(cwd: str) -> Iterator[str]:
    """The files that lead git from a linked worktree, or a submodule, to its folder and on to its settings."""
    real = Path(os.path.realpath(cwd))
    dot = next((folder / ".git" for folder in (real, *real.parents) if os.path.lexists(folder / ".git")), None)
    if dot is None or not os.path.isfile(dot) or not git_folders(cwd):
        return
    yield str(dot)
    inner = Path(os.path.realpath(dot.parent / (_pointer(dot, "gitdir: ") or "")))
    if os.path.isfile(inner / "commondir"):
        yield str(inner / "commondir")


def _modules(folder: Path) -> Iterator[Path]:
    """The git folders of submodules, and of theirs: a name may hold slashes.

    One that we may not look into counts: its owner, and so a command, can open it again.
    """
    if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
        yield folder
        return
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            if os.path.islink(path) or not os.path.isdir(path):
                continue
            if os.path.exists(path / "config"):
                yield path
                yield from _modules(path / "modules")
            else:
                yield from _modules(path)


def _worktree_pointer(module: Path) -> Iterator[str]:
    """The `.git` file of a submodule's files, where it is one and leads back to it."""
    try:
        named = _WORKTREE.search(read_start(module / "config", _LOOKED_AT))
    except OSError:
        return
    if named is None or b"\0" in named[1]:
        return
    dot = Path(os.path.realpath(module / os.fsdecode(named[1].strip())), ".git")
    target = _pointer(dot, "gitdir: ") if not os.path.islink(dot) else None
    if target is not None and os.path.realpath(dot.parent / target) == str(module):
        yield str(dot)


def steered_folders(protected: Iterable[str]) -> tuple[str, ...]:
    """The git folders among whose files are protected settings."""
    folders = (Path(path).parent for path in protected if path.endswith("/config"))
    # Our own settings are in a folder of that name, too.
    known = (str(one) for one in folders if one.name == ".git" or "modules" in one.parts)
    return tuple(dict.fromkeys(map(os.path.realpath, known)))


def make_steering(protected: Iterable[str]) -> None:
    """Create what repositories lack of it: what is not there cannot be mounted read-only."""
    for path in map(Path, protected):
        folder = path.parent
        if path.name not in ("hooks", "config.worktree") or os.path.lexists(path):
            continue
        if os.path.isfile(folder / "HEAD") and os.path.realpath(folder) == str(folder):
            with suppress(OSError), opened(str(folder)) as fd:  # we cannot, so commands cannot either
                _make(path.name, fd)


def _make(name: str, folder: int) -> None:
    if name == "hooks":
        os.mkdir(name, dir_fd=folder)
    else:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666, dir_fd=folder))
