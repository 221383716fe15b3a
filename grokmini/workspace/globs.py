"""Glob patterns for paths: `*`, `?`, `[a-z]`, `{a,b}`, and `**` for any number of folders.

Matching takes time in proportion to pattern times path, whatever the pattern (no backtracking explosion).
"""

from __future__ import annotations

from typing import Final

from grokmini.text.wildcards import matches_whole

MAX_BRACES: Final = 256
_STAR: Final = "*"
_ANY_FOLDERS: Final = "**"


class Glob:
    """A compiled pattern. Without a slash it matches the last part of a path, in whatever folder."""

    def __init__(self, pattern: str) -> None:
        """Raises `ValueError` for a pattern that is empty or means too many alternatives."""
        if not pattern.strip("/"):
            raise ValueError("the pattern is empty")
        self._alternatives = [_segments(one) for one in expand_braces(pattern)]

    def matches(self, path: str) -> bool:
        """Whether a relative path, with `/` between its parts, matches."""
        parts = path.split("/")
        return any(
            matches_whole(pattern, parts, _is_any_folders, _segment_matches) for pattern in self._alternatives
        )


def expand_braces(pattern: str) -> list[str]:
    """The patterns that `{a,b}` stands for. Raises `ValueError` beyond `MAX_BRACES`."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        current = waiting.pop(0)
        found = _innermost(current)
        if found is None:
            done.append(current)
        else:
            start, end = found
            waiting.extend(
                current[:start] + part + current[end + 1 :] for part in current[start + 1 : end].split(",")
            )
        if len(waiting) + len(done) > MAX_BRACES:
            raise ValueError("the pattern has too many alternatives in braces")
    return list(dict.fromkeys(done))


def _innermost(pattern: str) -> tuple[int, int] | None:
    """The first pair of braces without another inside that holds a comma."""
    at = 0
    while (end := pattern.find("}", at)) >= 0:
        start = pattern.rfind("{", at, end)
        if start >= 0 and "," in pattern[start:end]:
            return start, end
        at = end + 1
    return None


def _segments(pattern: str) -> list[str]:
    parts = [part for part in pattern.strip("/").split("/") if part not in ("", ".")]
    if "/" not in pattern.rstrip("/"):
        parts.insert(0, _ANY_FOLDERS)
    if parts and parts[-1] == _ANY_FOLDERS:
        parts.append(_STAR)
    return parts


def _is_any_folders(part: str) -> bool:
    return part == _ANY_FOLDERS


def _segment_matches(pattern: str, name: str) -> bool:
    return matches_whole(_tokens(pattern), name, _is_star, _token_matches)


def _is_star(token: str) -> bool:
    return token == _STAR


def _tokens(pattern: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(pattern):
        end = pattern.find("]", at + 2) if pattern[at] == "[" else -1
        if pattern[at] == "\\" and at + 1 < len(pattern):
            end = at + 1
        end = max(end, at)
        tokens.append(pattern[at : end + 1])
        at = end + 1
    return tokens


def _token_matches(token: str, char: str) -> bool:
    if token == "?":
        return True
    if token.startswith("\\") and len(token) == 2:
        return token[1] == char
    if token.startswith("[") and len(token) > 2:
        body = token[1:-1]
        negated = body[0] in "!^"
        return _in_set(body[negated:], char) != negated
    return token == char


def _in_set(body: str, char: str) -> bool:
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            if body[at] <= char <= body[at + 2]:
                return True
            at += 3
        else:
            if body[at] == char:
                return True
            at += 1
    return False
