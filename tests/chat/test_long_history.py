"""A session of a thousand turns: small in memory, quick to build a request from."""

from __future__ import annotations

from tests.bench.chat import CALLS, OUTPUT_BYTES, TURNS, long_history

RESIDENT = 60_000_000
BUILD_SECONDS = 0.050


def test_a_long_history_stays_small_and_its_requests_quick(full: bool) -> None:
    """The small size has a tenth of the turns with as much output each: what is kept is the last turns' alone.

    Times are judged at full size only.
    """
    part = 1 if full else 10
    found = long_history(TURNS // part, OUTPUT_BYTES // part)
    assert found.items == TURNS // part * (2 + 3 * CALLS)
    assert found.resident < RESIDENT // (1 if full else 2)
    if full:
        assert found.build < BUILD_SECONDS
        assert found.rebuild < BUILD_SECONDS * 2
