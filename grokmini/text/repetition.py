"""Whether a running text has fallen into a loop (spec: models.md, "Doom loop").

A text loops when its tail is the same stretch over and over, exactly. Digits count as they are: a long list, a
table of figures or generated code differs somewhere and never trips this.
"""

from __future__ import annotations

MIN_RUN = 2_400
"""Characters that a loop must cover before it is called one."""
MIN_COPIES = 6
MAX_PERIOD = 1_600
_CHECK_EVERY = 256
_PROBE = 24
_CANDIDATES = 16
_WINDOW = MAX_PERIOD * MIN_COPIES


class RepetitionDetector:
    """Feed it the pieces of one reply; the work is constant per character on average."""

    def __init__(self) -> None:
        self._tail = ""
        self._unchecked = 0

    def feed(self, text: str) -> bool:
        """True when the text so far ends in a loop."""
        self._tail += text
        self._unchecked += len(text)
        if self._unchecked < _CHECK_EVERY:
            return False
        self._unchecked = 0
        if len(self._tail) > 2 * _WINDOW:
            self._tail = self._tail[-_WINDOW:]
        return len(self._tail) >= MIN_RUN and _loops(self._tail)


def _loops(tail: str) -> bool:
    """Whether some period of at most `MAX_PERIOD` explains the end of the text long enough."""
    probe = tail[-_PROBE:]
    end = len(tail)
    at = tail.rfind(probe, end - _PROBE - MAX_PERIOD, end - 1)
    for _ in range(_CANDIDATES):
        if at < 0:
            return False
        period = end - _PROBE - at
        run = max(MIN_RUN, MIN_COPIES * period)
        if run <= end and tail[end - run + period :] == tail[end - run : end - period]:
            return True
        at = tail.rfind(probe, end - _PROBE - MAX_PERIOD, at + _PROBE - 1)
    return False
