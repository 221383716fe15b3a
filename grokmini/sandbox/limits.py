"""Resource limits of commands: walls (core dumps, processes) and guards against accidents (one file, memory)."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from grokmini.sandbox.policy import Limits

OOM_SCORE: Final = 500
"""Commands are what the kernel ends first when memory is short."""
LARGEST_FILE: Final = 32 * 1024**3
LEAST_MEMORY: Final = 2 * 1024**3
MOST_MEMORY: Final = 15 * 1024**3


def machine_limits() -> Limits:
    """The limits of commands on this machine: half of its memory for one process, within reason."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        memory = 0
    return Limits(fsize=LARGEST_FILE, data=min(max(memory // 2, LEAST_MEMORY), MOST_MEMORY))


def limits_of(limits: Limits, *, alone: bool) -> list[tuple[int, int, bool]]:
    """What to set: which limit, its value, and whether for good.

    `alone`: processes are counted in a namespace of their own, else together with all that this user runs.
    """
    chosen = [(resource.RLIMIT_CORE, 0, True)]
    if limits.nproc:
        others = 0 if alone else threads_of_user()
        chosen.append((resource.RLIMIT_NPROC, limits.nproc + others, True))
    if limits.fsize:
        chosen.append((resource.RLIMIT_FSIZE, limits.fsize, False))
    if limits.data:
        chosen.append((resource.RLIMIT_DATA, limits.data, False))
    return chosen


def counts_by_namespace(release: str) -> bool:
    """Whether a kernel counts processes by user namespace (since 5.14)."""
    return [int(word) for word in re.findall(r"\d+", release)[:2]] >= [5, 14]


def threads_of_user() -> int:
    """How many threads run as this user, which is what the kernel's limit counts; 0 where there is no /proc."""
    me, count = os.getuid(), 0
    with suppress(OSError), os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit():
                with suppress(OSError):
                    info = Path(entry.path, "task").stat()
                    count += info.st_nlink - 2 if info.st_uid == me else 0
    return count


@contextmanager
def lowered(chosen: Sequence[tuple[int, int, bool]]) -> Iterator[None]:
    """Inside, these are our own soft limits, and those of a child that is started there.

    For systems without a launcher alone, whose child limits itself: what another thread does meanwhile is limited
    too, and the child may raise its limits again, core dumps included, since our own hard ones have to stay.
    """
    before = [(what, resource.getrlimit(what)) for what, _, _ in chosen]
    try:
        for what, value, _ in chosen:
            hard = resource.getrlimit(what)[1]
            resource.setrlimit(what, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
        yield
    finally:
        for what, pair in before:
            resource.setrlimit(what, pair)


def set_oom_score(pid: int) -> None:
    """Have the kernel end that process before others; it may have been higher already, or be gone."""
    with suppress(OSError):
        Path(f"/proc/{pid}/oom_score_adj").write_text(str(OOM_SCORE))
