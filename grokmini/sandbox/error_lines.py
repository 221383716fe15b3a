"""Error texts of programs: what a line says went wrong, and which paths it may be about. Pure.

Programs say it in many ways (`touch: cannot touch 'x': Read-only file system`, `OSError: [Errno 30] …: 'x'`,
`EROFS: read-only file system, open 'x'`); what is looked for is the system's own words or number, and near it what
may be a path.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple


class Trouble(Enum):
    """What the system said."""

    READ_ONLY = "read-only file system"
    DENIED = "permission denied"
    NOT_PERMITTED = "operation not permitted"
    BUSY = "device or resource busy"
    OTHER_DEVICE = "cross-device link"
    MISSING = "no such file or directory"


_SAID: Final = (
    (Trouble.READ_ONLY, r"read-only file ?system|\bEROFS\b|\berrno 30\b|\bos error 30\b"),
    (Trouble.BUSY, r"device or resource busy|resource busy or locked|\bEBUSY\b|\berrno 16\b|\bos error 16\b"),
    (Trouble.OTHER_DEVICE, r"cross-device link|\bEXDEV\b|\berrno 18\b"),
    (
        Trouble.DENIED,
        r"permission denied|\bEACCES\b|\berrno 13\b|\bos error 13\b|\bAccessDeniedException\b"
        r"|unable to open database file",
    ),
    (
        Trouble.NOT_PERMITTED,
        r"operation not permitted|\bEPERM\b|\berrno 1\b|\bos error 1\b"
        r"|changing ownership of '[^'\n]*': invalid argument|cannot change ownership to [^:\n]*: invalid argument",
    ),
    (Trouble.MISSING, r"no such file or directory|\bENOENT\b|\berrno 2\b|\bos error 2\b"),
)
_ANY: Final = re.compile("|".join(f"(?P<{trouble.name}>{words})" for trouble, words in _SAID), re.I)
_QUOTED: Final = re.compile(r"'([^'\n]+)'|\"([^\"\n]+)\"|`([^`'\n]+)[`']|‘([^’\n]+)’|“([^”\n]+)”")
_PARTS: Final = re.compile(r"(?::\s+|:$|,\s+|\s->\s|\s\(|\)\s?)")
_WORDS: Final = re.compile(r"[^\s'\"`‘’]+")
_EDGES: Final = ".,;:()[]<>'\"`‘’"
_ALONE: Final = re.compile(r"^[\s\w*]*\(os error \d+\)\s*$|^\s*(?:Caused by|errno|code):?", re.I)
_TRACE: Final = re.compile(r"^\s*(?:File \"|at |\.\.\. )")
_AROUND: Final = 5
MAX_LINES: Final = 200
MAX_LINE: Final = 4_000


class ErrorLine(NamedTuple):
    """A line that tells of a trouble. `paths` are what may be the path it is about, the likeliest first; `before`
    are the lines above it.
    """

    text: str
    trouble: Trouble
    paths: tuple[str, ...]
    before: tuple[str, ...]


def error_lines(output: str) -> Iterator[ErrorLine]:
    """The lines of some output that tell of a trouble; of very much output the first ones."""
    lines = [line[:MAX_LINE] for line in output.replace("\nWarning: ", "").splitlines()]
    found = 0
    for number, line in enumerate(lines):
        said = _ANY.search(line)
        if said is None or said.lastgroup is None:
            continue
        before = tuple(lines[max(0, number - _AROUND) : number])
        paths = list(dict.fromkeys(_paths(line, said)))
        if _ALONE.match(line):
            near = (*reversed(before), *lines[number + 1 : number + 4])
            paths += [path for other in near if not _TRACE.match(other) for path in _whole_paths(other)]
        yield ErrorLine(line, Trouble[said.lastgroup], tuple(paths), before)
        found += 1
        if found >= MAX_LINES:
            return


def _paths(line: str, said: re.Match[str]) -> Iterator[str]:
    yield from _quoted(line)
    before, after = line[: said.start()], line[said.end() :]
    parts = [part.strip() for part in _PARTS.split(before) if part.strip()]
    spoke, rest = parts[:1], parts[1:]
    found = [path for part in reversed(rest) for path in _in_part(part)]
    if not found and spoke and "/" in spoke[0]:  # else the program that speaks
        found = list(_in_part(spoke[0]))
    yield from found
    yield from _slashed(after)


def _in_part(part: str) -> Iterator[str]:
    """What between two colons may be a path: one word, or the words with a slash, or all of it."""
    if " " not in part:
        if re.search(r"\w", part):
            yield part.removeprefix("unix://")
        return
    yield from _slashed(part)
    if part.startswith(("/", "./", "../")):
        yield part


def _quoted(line: str) -> Iterator[str]:
    for match in _QUOTED.finditer(line):
        yield next(text for text in match.groups() if text)


def _slashed(text: str) -> Iterator[str]:
    """The words with a slash in them."""
    for match in _WORDS.finditer(text):
        word = match[0].rstrip(_EDGES).lstrip("()[]<>'\"`‘’,;").removeprefix("unix://")
        if "/" in word and "://" not in word:
            yield word


def _whole_paths(line: str) -> Iterator[str]:
    """Paths in a line that tells of no trouble itself: only what surely is one."""
    yield from (text for text in _quoted(line) if "/" in text)
    yield from (word for word in _slashed(line) if word.startswith("/"))
