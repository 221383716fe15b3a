"""What a command left in git folders to have other settings read than the protected ones, and taking it away.

Commands may still run and change what lies there: each folder is opened, link by link refused, and all is done in
the open one. Git reads its settings where a file `commondir` leads; only the folder that a linked worktree has in
`worktrees` has one, unless a person, or a command, made it.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Final

from grokmini.files.descriptors import FOLDER, open_straight
from grokmini.files.regular import read_start

_NAME: Final = "commondir"
_WORKTREES: Final = "worktrees"
_BACK: Final = b"../..\n"
_MOST: Final = 5_000
_LONGEST: Final = 4_096


def redirections(folders: Iterable[str]) -> tuple[str, ...]:
    """What is there that leads git elsewhere: files `commondir`, and links in place of the folders of worktrees."""
    return tuple(stray for folder in folders for stray in _strays(folder))


def redirection_notices(found: Iterable[str]) -> tuple[str, ...]:
    """A sentence for each file that is still there: what it does and how to be rid of it."""
    files = (path for path in sorted(found) if path.endswith(f"/{_NAME}") and os.path.lexists(path))
    return tuple(
        f"git settings: {path} makes git take them, and the programs they name, from "
        f"{_said(path) or 'elsewhere'!r}; an ordinary repository has no such file: unless you made it, "
        f"remove it (rm {shlex.quote(path)})"
        for path in files
    )


def remove_redirections(folders: Iterable[str], spared: Collection[str] = ()) -> tuple[str, ...]:
    """Take away what leads git elsewhere and is not `spared`, which was there before any command.

    The file of a linked worktree leads back and is put right, or back. Returns what was changed.
    """
    found: list[str] = []
    for folder in folders:
        if not (os.path.lexists(f"{folder}/{_NAME}") or os.path.lexists(f"{folder}/{_WORKTREES}")):
            continue  # as ever: it costs little to see
        found += [stray for stray in _strays(folder) if stray not in spared and _unlinked(stray)]
        with suppress(OSError), opened(f"{folder}/{_WORKTREES}") as worktrees:
            for name in _names(worktrees):
                place = f"{folder}/{_WORKTREES}/{name}"
                with suppress(OSError), _below(worktrees, name) as inner:
                    if not _leads_to(folder, place, inner):
                        _put_right(inner)
                        found.append(f"{place}/{_NAME}")
    return tuple(found)


@contextmanager
def opened(path: str) -> Iterator[int]:
    """A folder by its real path, through no link whatever somebody puts there meanwhile. Raises `OSError`."""
    fd = open_straight(path)
    try:
        yield fd
    finally:
        os.close(fd)


@contextmanager
def _below(folder: int, name: str) -> Iterator[int]:
    fd = os.open(name, FOLDER | os.O_NOFOLLOW, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


def _strays(folder: str) -> Iterator[str]:
    with suppress(OSError), opened(folder) as fd:
        mode = _mode(_NAME, fd)
        if mode and not stat.S_ISDIR(mode):
            yield f"{folder}/{_NAME}"
        if stat.S_ISLNK(_mode(_WORKTREES, fd)):
            yield f"{folder}/{_WORKTREES}"
    with suppress(OSError), opened(f"{folder}/{_WORKTREES}") as fd:
        for name in _names(fd):
            if stat.S_ISLNK(_mode(name, fd)):
                yield f"{folder}/{_WORKTREES}/{name}"


def _unlinked(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    try:
        with opened(folder) as fd:
            os.unlink(name, dir_fd=fd)
    except OSError:
        return False
    return True


def _names(folder: int) -> list[str]:
    listed = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        with os.scandir(listed) as entries:
            return sorted(entry.name for entry in islice(entries, _MOST))
    finally:
        os.close(listed)


def _mode(name: str, folder: int) -> int:
    """What kind of thing it is, 0 for nothing."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return 0


def _leads_to(folder: str, place: str, inner: int) -> bool:
    """Whether the folder of a worktree leads back, by words alone. What is no such folder leads nowhere else."""
    try:
        said = read_start(_NAME, _LONGEST, folder=inner, follow=False)
    except FileNotFoundError:
        return not (_mode("HEAD", inner) or _mode("gitdir", inner))
    except OSError:
        return False
    return os.path.normpath(os.path.join(place, os.fsdecode(said.rstrip(b"\r\n")))) == folder


def _put_right(inner: int) -> None:
    temporary = f".grokmini-{os.urandom(8).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, flags, 0o666, dir_fd=inner)
    try:
        os.write(fd, _BACK)
        os.rename(temporary, _NAME, src_dir_fd=inner, dst_dir_fd=inner)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=inner)
        raise
    finally:
        os.close(fd)


def _said(path: str) -> str:
    try:
        return read_start(Path(path), _LONGEST).decode().strip()
    except (OSError, UnicodeDecodeError):
        return ""
