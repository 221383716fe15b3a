"""A list of names in a sentence: the first ones, and how many more there are."""

from __future__ import annotations

from collections.abc import Sequence


def some_of(names: Sequence[str], most: int) -> str:
    """At most so many of the names, as `a, b and 2 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
