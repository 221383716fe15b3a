"""How what something costs grows with its input: a figure that no other program on the machine changes much."""

from __future__ import annotations

import time
from collections.abc import Callable

LINEAR = 8.0
"""More than four times the input costs when each part of it costs the same; it is 16 when each costs as much as all
of them together."""


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times as long the work takes the processor at `size` as at a quarter of it: the best of three each."""
    quarter, whole = (min(_seconds(work, count) for _ in range(3)) for count in (size // 4, size))
    return whole / max(quarter, 0.01)


def _seconds(work: Callable[[int], object], count: int) -> float:
    begin = time.process_time()
    work(count)
    return time.process_time() - begin
