"""Whether an absolute path lies below another, by their words alone: links and dots are resolved before."""

from __future__ import annotations

from collections.abc import Iterable


def is_below(path: str, root: str) -> bool:
    """Whether the path is the root or below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def is_below_any(path: str, roots: Iterable[str]) -> bool:
    """Whether the path is one of the roots or below one."""
    return any(is_below(path, root) for root in roots)
