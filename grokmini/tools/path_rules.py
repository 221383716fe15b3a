"""Matching paths with the patterns of rules (described in `rules.py`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from grokmini.files.places import real_path
from grokmini.tools.rules import Rule


def allows_path(rule: Rule, path: Path, root: Path) -> bool:
    """Whether an allow rule covers the path, its links resolved. A bare rule covers the workspace, no more."""
    real = real_path(path)
    if rule.pattern is None:
        return real.is_relative_to(real_path(root))
    return path_pattern(rule.pattern, root, wide=False).fullmatch(str(real)) is not None


def stops_path(rule: Rule, forms: Iterable[Path], root: Path) -> bool:
    """Whether a deny or ask rule covers any of these forms of a path (as given, and with its links resolved)."""
    if rule.pattern is None:
        return True
    pattern = path_pattern(rule.pattern, root, wide=True)
    return any(pattern.fullmatch(str(form)) for form in forms)


def path_pattern(pattern: str, root: Path, *, wide: bool) -> re.Pattern[str]:
    """A rule's pattern as an expression for whole absolute paths: `wide` to stop, else to allow."""
    pattern = pattern.strip().removeprefix("./")
    base = re.escape(str(real_path(root))) + "/"
    if wide:
        base = f"(?:{base}|{re.escape(str(root))}/)"
    if pattern.startswith("~/"):
        pattern, base = pattern[2:], re.escape(str(Path.home())) + "/"
    elif pattern.startswith("/"):
        pattern, base = pattern[1:], "/"
    elif wide and "/" not in pattern.rstrip("/"):
        base += "(?:.*/)?"
    whole_folder = pattern.endswith("/")
    tail = "(?:/.*)?" if wide or whole_folder else ""
    return re.compile(base + _translate(pattern.rstrip("/")) + tail, re.DOTALL)


def _translate(pattern: str) -> str:
    out: list[str] = []
    position = 0
    while position < len(pattern):
        if pattern.startswith("**/", position):
            out.append("(?:.*/)?")
            position += 3
        elif pattern.startswith("**", position):
            out.append(".*")
            position += 2
        elif pattern.startswith("\\*", position):
            out.append(r"\*")
            position += 2
        else:
            char = pattern[position]
            out.append({"*": "[^/]*", "?": "[^/]"}.get(char, re.escape(char)))
            position += 1
    return "".join(out)
