"""Measuring: medians of repeated runs of a process, and how fast the machine is meanwhile."""

from __future__ import annotations

import os
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

RUNS = 15
WARM_UPS = 2


class Ended(NamedTuple):
    """A process from start to end. Times in seconds, `rss` in bytes; `started` on the monotonic clock."""

    started: float
    wall: float
    cpu: float
    rss: int


def run_process(words: Sequence[str | Path], *, cwd: Path, env: dict[str, str]) -> Ended:
    """Run a process with nothing to read and its output thrown away. Raises `RuntimeError` unless it exits 0."""
    started = time.monotonic()
    process = subprocess.Popen(
        [str(word) for word in words],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{words[0]} ended with {process.returncode}")
    return Ended(started, time.monotonic() - started, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def median_of(measure: Callable[[], float], runs: int = RUNS, warm_ups: int = WARM_UPS) -> float:
    """The median of the runs after the warm-ups."""
    for _ in range(warm_ups):
        measure()
    return statistics.median(measure() for _ in range(runs))


def calibration() -> float:
    """Seconds of processor time of a fixed loop: what a busy or slow machine makes longer."""
    begin = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number & 7
    return time.process_time() - begin
