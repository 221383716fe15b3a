"""Globs of denied paths: one translation to a regular expression for all platforms, and the paths that match.

`*` and `?` stand for anything but `/`, `**` for anything, `[abc]` and `[!abc]` for one character. The expression
uses only what Python, extended POSIX expressions and Seatbelt read alike. In an absolute pattern a backslash takes
a character's meaning away; people cannot write one, it stands where a folder's own name holds a wildcard.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.closed import closed_folder, is_own

MAX_MATCHES: Final = 400
MAX_LOOKED_AT: Final = 200_000
_REFUSED: Final = frozenset('{}\\"')
_UNMEANT: Final = re.compile(r"^(?:~[^/]|!|\$\w)|^(?!\./).*/\$\w")
"""Another's home folder, a variable, an exception: what shells and lists of ignored files know, and we do not."""
_WILDCARD: Final = re.compile(r"(?:[^\\*?\[]|\\.)*[*?\[]", re.DOTALL)
"""Everything up to the first wildcard, itself included."""


def is_glob(pattern: str) -> bool:
    """Whether the text holds a wildcard."""
    return _WILDCARD.match(pattern) is not None


def quoted(path: str) -> str:
    """The path as a pattern that means itself alone."""
    return re.sub(r"([\\*?\[])", r"\\\1", path)


def unquoted(pattern: str) -> str:
    """The path that a pattern without wildcards means."""
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


def fixed_folder(pattern: str) -> str:
    """The deepest folder that an absolute pattern with wildcards names in full."""
    first = _WILDCARD.match(pattern)
    assert first is not None
    return unquoted(first[0].rpartition("/")[0]) or "/"


def without_links(pattern: str) -> str:
    """The absolute pattern with the links in the part that it names in full resolved."""
    if not is_glob(pattern):
        return quoted(os.path.realpath(unquoted(pattern)))
    folder = fixed_folder(pattern)
    rest = pattern[len(quoted(folder)) :] if folder != "/" else pattern
    return quoted(os.path.realpath(folder)).rstrip("/") + rest


def anchored(pattern: str, folder: str, home: str) -> str:
    """The pattern as an absolute one: `~/` is the home folder, a name without `/` is meant at any depth.

    `folder` and `home` are paths. Raises `SandboxError` for what cannot be said safely on every platform.
    """
    if any(ord(character) < 32 or ord(character) == 127 for character in pattern) or not pattern:
        raise SandboxError(f"the pattern {pattern!r} is empty or holds control characters", "Write it anew.")
    if not _REFUSED.isdisjoint(pattern):
        raise SandboxError(
            f"the pattern {pattern!r} holds braces, a double quote or a backslash",
            "Write one pattern for each case, with ? in place of such a character.",
        )
    if _UNMEANT.search(pattern):
        raise SandboxError(
            f"the path {pattern!r} would not mean what it seems to: only ~ and ~/ stand for a home folder, and neither "
            "variables nor a leading ! are understood",
            "Write the path in full, or begin it with ./ where it is a name like that in the folder worked in.",
        )
    stripped = pattern.rstrip("/") or "/"
    if stripped == "~" or stripped.startswith("~/"):
        whole = quoted(home) + stripped[1:]
    elif stripped.startswith("/"):
        whole = stripped
    else:
        anywhere = "" if "/" in stripped or not is_glob(stripped) else "**/"
        whole = f"{quoted(folder)}/{anywhere}{stripped}"
    return "/" + os.path.normpath(whole).lstrip("/")


def expression(pattern: str, *, below: bool = False) -> str:
    """An absolute pattern as an expression that matches whole paths, with `below` also what lies below them."""
    out: list[str] = ["^"]
    position = 0
    while position < len(pattern):
        if pattern[position] == "\\" and position + 1 < len(pattern):
            out.append(_literal(pattern[position + 1]))
            position += 2
        elif pattern.startswith("/**/", position):
            out.append("/(.*/)?")
            position += 4
        elif pattern.startswith("**", position):
            out.append(".*")
            position += 2
        elif pattern[position] == "*":
            out.append("[^/]*")
            position += 1
        elif pattern[position] == "?":
            out.append("[^/]")
            position += 1
        elif pattern[position] == "[" and (end := _class_end(pattern, position)):
            out.append(_class(pattern[position + 1 : end]))
            position = end + 1
        else:
            out.append(_literal(pattern[position]))
            position += 1
    return "".join(out) + ("(/.*)?$" if below else "$")


def _class_end(pattern: str, start: int) -> int:
    """Where the bracket closes; 0 when it does not or would reach over a slash."""
    begin = start + 2 if pattern[start + 1 : start + 2] in ("!", "^") else start + 1
    end = pattern.find("]", begin + 1)
    inner = pattern[start + 1 : end] if end > 0 else "/"
    return 0 if "/" in inner or "[" in inner else end


def _class(inner: str) -> str:
    negated = inner[0] in "!^"
    members = set(inner[1:] if negated else inner)
    body = inner[1:] if negated else inner
    spans = [body[at : at + 3] for at in range(len(body) - 2) if body[at + 1] == "-"]
    for span in spans:
        members |= {chr(code) for code in range(ord(span[0]), ord(span[2]) + 1)} - {"/"}
    if spans:
        members.discard("-")
    if negated:
        listed = "".join(sorted(members - {"]", "-", "^"}))
        return "[^/" + ("]" if "]" in members else "") + listed + ("-" if "-" in members else "") + "]"
    return "(" + "|".join(_literal(member) for member in sorted(members)) + ")"


def _literal(character: str) -> str:
    return "\\" + character if character in ".^$*+?()[]{}|\\" else character


def matches(pattern: str, path: str) -> bool:
    """Whether an absolute pattern means that path."""
    return re.match(expression(pattern), path, re.DOTALL) is not None


def expand(pattern: str) -> tuple[str, ...]:
    """The paths an absolute pattern means now; a path without wildcards is itself, there or not.

    What lies below a match is not listed: it is denied with it. Links to folders are not followed. A folder of ours
    that we may not look into counts as a match, since it can be opened again. Raises `SandboxError` for too many
    matches or too much to look at.
    """
    if not is_glob(pattern):
        return (unquoted(pattern),)
    found: list[str] = []
    wanted = re.compile(expression(pattern), re.DOTALL)
    deep = "**" in pattern
    for path in _below(fixed_folder(pattern), None if deep else pattern.count("/"), wanted):
        found.append(path)
        if len(found) > MAX_MATCHES:
            raise SandboxError(
                f"the denied pattern {pattern} means more than {MAX_MATCHES} paths",
                "Deny their folders instead.",
            )
    return tuple(sorted(set(found)))


def _below(top: str, depth: int | None, wanted: re.Pattern[str]) -> Iterator[str]:
    waiting, seen = [top], 0
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listed = list(entries)
        except PermissionError:
            if closed := folder if is_own(folder) else closed_folder(folder):
                yield closed
            continue
        except OSError:
            continue
        seen += len(listed)
        if seen > MAX_LOOKED_AT:
            raise SandboxError(
                f"more than {MAX_LOOKED_AT:,} files below {top} to look at for a denied pattern",
                "Write the pattern with a longer fixed beginning.",
            )
        for entry in listed:
            if any(ord(character) < 32 for character in entry.name) and wanted.match(entry.path):
                raise SandboxError(f"a denied path holds control characters: {entry.path!r}", "Rename it.")
            if wanted.match(entry.path):
                yield entry.path
            elif entry.is_dir(follow_symlinks=False) and (depth is None or entry.path.count("/") < depth):
                waiting.append(entry.path)
