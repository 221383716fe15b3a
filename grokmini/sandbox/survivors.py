"""Finding what a command left behind, through /proc. Without one only children are found, by `ps`."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Iterable, Iterator, Set
from contextlib import suppress
from pathlib import Path
from typing import Final

MAX_ROUNDS: Final = 8
"""How often newcomers are looked for: who forks faster than that is stopped first."""


def holders_of_pipes(inodes: Collection[int], proc: Path = Path("/proc")) -> set[int]:
    """The processes that hold an open descriptor of one of the pipes with those inode numbers.

    Takes some milliseconds; call it in a thread. Processes of other users cannot be looked into and are
    left out.
    """
    wanted = {f"pipe:[{inode}]" for inode in inodes}
    found: set[int] = set()
    for pid in _pids(proc):
        with suppress(OSError), os.scandir(proc / str(pid) / "fd") as entries:
            for entry in entries:
                with suppress(OSError):
                    if str(Path(entry.path).readlink()) in wanted:
                        found.add(pid)
                        break
    return found


def kill_holders(inodes: Collection[int], *, spare: Set[int]) -> set[int]:
    """Kill who holds one of the pipes, newcomers included, those in `spare` excepted. Returns whom."""
    killed: set[int] = set()
    for _ in range(MAX_ROUNDS):
        found = holders_of_pipes(inodes) - spare
        if not found - killed:
            break
        signal_all(found, signal.SIGSTOP)
        killed |= found
        signal_all(found, signal.SIGKILL)
    return killed


def descendants(pid: int, proc: Path = Path("/proc")) -> set[int]:
    """The children of a process, their children and so on, whatever group or session they are in."""
    parents: dict[int, list[int]] = {}
    for child, parent in _parents(proc):
        parents.setdefault(parent, []).append(child)
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def _parents(proc: Path) -> Iterator[tuple[int, int]]:
    """Every process with its parent."""
    if not (proc / "self").exists():
        yield from _parents_by_ps()
    for child in _pids(proc):
        with suppress(OSError, ValueError, IndexError):
            stat = (proc / str(child) / "stat").read_bytes()
            yield child, int(stat[stat.rindex(b")") + 2 :].split()[1])


def _parents_by_ps() -> Iterator[tuple[int, int]]:
    import subprocess  # not needed where there is /proc

    words = ("/bin/ps", "-A", "-o", "pid=", "-o", "ppid=")
    with suppress(OSError, subprocess.TimeoutExpired):
        listed = subprocess.run(
            words,
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            check=False,
            start_new_session=True,
        )
        for line in listed.stdout.splitlines():
            child, parent = map(int, line.split())
            yield child, parent


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
