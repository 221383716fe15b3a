"""The known names that a mistyped one may have meant."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 100
"""Characters of a mistyped name that are looked at."""


def nearest(name: str, known: Iterable[str], limit: int = 3) -> list[str]:
    """Up to `limit` known names close to `name`, the closest first; empty when none is close.

    Close means: at most a third of the letters differ (two swapped neighbours are one difference), or one of
    the names is a beginning of the other. Case, `-` and `_` make no difference; of a long name the beginning counts.
    """
    wanted = _fold(name[:LONGEST])
    if not wanted:
        return []
    scored: list[tuple[float, str]] = []
    for candidate in dict.fromkeys(known):
        folded = _fold(candidate)
        distance: float = slips(wanted, folded)
        if distance > max(1, max(len(wanted), len(folded)) // 3):
            begins = min(len(wanted), len(folded)) >= 3 and (
                folded.startswith(wanted) or wanted.startswith(folded)
            )
            if not begins:
                continue
            distance = 0.5 + abs(len(wanted) - len(folded))
        scored.append((distance, candidate))
    scored.sort()
    return [candidate for _, candidate in scored[:limit]]


def _fold(name: str) -> str:
    return name.casefold().replace("-", "_")


def slips(a: str, b: str) -> int:
    """Edits between two short names; swapping two neighbours counts as one."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        row = [i]
        for j, right in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (left != right))
            if i > 1 and j > 1 and left == b[j - 2] and a[i - 2] == right:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
