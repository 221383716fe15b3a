"""Finding what a command left behind, through /proc. On systems without /proc nothing is found."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def holders_of_pipe(inode: int, proc: Path = Path("/proc")) -> set[int]:
    """The processes that hold an open descriptor of the pipe with that inode number.

    Takes some milliseconds; call it in a thread. Processes of other users cannot be looked into and are
    left out.
    """
    wanted = f"pipe:[{inode}]"
    found: set[int] = set()
    for pid in _pids(proc):
        with suppress(OSError), os.scandir(proc / str(pid) / "fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    if str(Path(entry.path).readlink()) == wanted:
                        found.add(pid)
                        break
    return found


def descendants(pid: int, proc: Path = Path("/proc")) -> set[int]:
    """The children of a process, their children and so on, whatever group or session they are in."""
    parents: dict[int, list[int]] = {}
    for child in _pids(proc):
        with suppress(OSError, ValueError, IndexError):
            stat = (proc / str(child) / "stat").read_bytes()
            parents.setdefault(int(stat[stat.rindex(b")") + 2 :].split()[1]), []).append(child)
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def signal_all(pids: Iterable[int], number: int) -> None:
    """Send a signal to each; those already gone do not matter."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _pids(proc: Path) -> list[int]:
    try:
        with os.scandir(proc) as entries:
            return [int(entry.name) for entry in entries if entry.name.isdigit()]
    except OSError:
        return []
