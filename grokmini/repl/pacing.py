"""When the next frame may be drawn: seldom while a reply trickles, more often while it pours."""

from __future__ import annotations

SLOW_INTERVAL = 0.2
FAST_INTERVAL = 0.05
"""Seconds between frames: at most 5 a second (more would be bytes for nothing), 20 above 200 tokens a second."""

_POURING = 900.0
"""Characters a second that 200 tokens come to."""

_MEMORY = 2.0
"""Seconds over which the rate is averaged."""


class Pacer:
    """Follows how much is drawn. Times are in seconds on the event loop's clock."""

    def __init__(self) -> None:
        self._last = float("-inf")
        self._rate = 0.0

    @property
    def pouring(self) -> bool:
        """Whether more than about 200 tokens a second arrive."""
        return self._rate > _POURING

    def next_frame(self) -> float:
        """When the next frame may be drawn, at the earliest."""
        return self._last + (FAST_INTERVAL if self.pouring else SLOW_INTERVAL)

    def drew(self, now: float, text: int) -> None:
        """A frame was drawn that brought so many characters: what was printed, and by what the live rows grew.

        Negative for live rows that shrank: text that moves from there to the finished lines is not new.
        """
        passed = max(0.001, now - self._last)
        share = min(1.0, passed / _MEMORY)
        self._rate += (text / passed - self._rate) * share
        self._last = now
