"""How what something costs grows with its input: a figure that no other program on the machine changes much."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

LINEAR = 8.0
"""More than four times the input costs when each part of it costs the same; it is 16 when each costs as much as all
of them together."""


ROUNDS = 6


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times as long the work takes the processor at `size` as at a quarter of it: the best of some rounds,
    both sizes in each, so that what slows the machine for a while slows both; no more once it is shown to be linear.
    """
    quarter = whole = found = math.inf
    for number in range(ROUNDS):
        quarter = min(quarter, _seconds(work, size // 4))
        whole = min(whole, _seconds(work, size))
        found = whole / max(quarter, 0.01)
        if number > 1 and found < LINEAR:
            break
    return found


def _seconds(work: Callable[[int], object], count: int) -> float:
    begin = time.process_time()
    work(count)
    return time.process_time() - begin
