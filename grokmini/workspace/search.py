"""Searching file contents: the question, ripgrep's command line for it, and our own search where it is absent.

Both give the same text: a path on a line of its own, then `12:matching line` and `13-line around it`, `--`
between places apart, an empty line between files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from grokmini.text.paths import visible_path
from grokmini.workspace.files import read_bytes
from grokmini.workspace.gate import UNGATED, Gate
from grokmini.workspace.globs import Glob
from grokmini.workspace.text_file import decode_text
from grokmini.workspace.walk import Entry, LeavesOut, leaves_out_nothing, walk_files

if TYPE_CHECKING:
    import regex

OutputMode = Literal["content", "files_with_matches", "count"]

MAX_SEARCHED_FILE: Final = 5_000_000
MAX_COLUMNS: Final = 1_000
FILE_SECONDS: Final = 5.0
"""Seconds one file may take in our own search."""

KEPT_BACK: Final = ".env*"
"""Files that a search of a folder never goes through, also when its glob covers them."""

FILE_TYPES: Final = {
    "c": "*.{c,h}",
    "cpp": "*.{cpp,cc,cxx,hpp,hh,hxx,h}",
    "css": "*.{css,scss}",
    "go": "*.go",
    "html": "*.{html,htm}",
    "java": "*.java",
    "js": "*.{js,jsx,mjs,cjs,vue}",
    "json": "*.json",
    "kotlin": "*.{kt,kts}",
    "md": "*.{md,markdown,mdx}",
    "php": "*.php",
    "py": "*.{py,pyi}",
    "ruby": "*.{rb,gemspec}",
    "rust": "*.rs",
    "sh": "*.{sh,bash,zsh}",
    "sql": "*.sql",
    "swift": "*.swift",
    "toml": "*.toml",
    "ts": "*.{ts,tsx,mts,cts}",
    "xml": "*.xml",
    "yaml": "*.{yaml,yml}",
}


class SearchQuery(NamedTuple):
    """What is looked for. `top` is a file or folder; `before` and `after` count lines around a match.

    `file_seconds` is the time our own search gives one file; what it found until then counts.
    """

    pattern: str
    top: Path
    glob: str = ""
    file_type: str = ""
    before: int = 0
    after: int = 0
    ignore_case: bool = False
    multiline: bool = False
    mode: OutputMode = "content"
    file_seconds: float = FILE_SECONDS


def ripgrep_argv(program: str, query: SearchQuery, cwd: Path) -> tuple[str, ...]:
    """The command that answers the query when run in `cwd`; `read_ripgrep` reads what it prints."""
    argv = [
        program,
        "--no-config",
        "--no-messages",
        "--color=never",
        "--null",
        "--sort=path",
        "--max-filesize=5M",
    ]
    if query.mode == "content":
        argv += ["--heading", "--with-filename", "--line-number"]
        argv += [f"--max-columns={MAX_COLUMNS}", "--max-columns-preview"]
        argv += [f"--before-context={query.before}", f"--after-context={query.after}"]
    else:
        argv += (
            ["--files-with-matches"] if query.mode == "files_with_matches" else ["--count", "--with-filename"]
        )
    if query.ignore_case:
        argv.append("--ignore-case")
    if query.multiline:
        argv += ["--multiline", "--multiline-dotall"]
    if (
        query.glob
    ):  # it would bring hidden files back; those that may hold keys are searched when named themselves
        argv += [f"--glob={query.glob}", f"--glob=!{KEPT_BACK}"]
    if query.file_type:
        argv.append(f"--type={query.file_type}")
    argv.append(f"--regexp={query.pattern}")
    if query.top != cwd:
        argv += ["--", str(query.top.relative_to(cwd) if query.top.is_relative_to(cwd) else query.top)]
    return tuple(argv)


def read_ripgrep(text: str, mode: OutputMode) -> str:
    """What ripgrep printed, in the form of our own search. There every path ends in NUL, so no name forges a line.

    A path without its NUL, where the text was cut, is left out.
    """
    path, *pieces = text.split("\0")
    if mode == "files_with_matches":
        return "".join(f"{visible_path(one)}\n" for one in (path, *pieces)[: len(pieces)])
    if not pieces:  # a word about a binary file
        return f"{visible_path(text.strip())}\n" if text.strip() else ""
    found: list[str] = []
    for piece in pieces:
        body, _, following = piece.partition("\n" if mode == "count" else "\n\n")
        if mode == "count":
            found.append(f"{visible_path(path)}:{body}\n")
        else:
            found.append(f"{_heading(visible_path(path))}\n{_numbered(body)}")
        path = following
    return ("" if mode == "count" else "\n").join(found)


def _numbered(body: str) -> str:
    """The numbered lines of a file. What comes behind them is ripgrep's word on a NUL in the file."""
    lines = body.removesuffix("\n").split("\n")
    kept = list(takewhile(lambda line: line == "--" or line.lstrip("0123456789")[:1] in (":", "-"), lines))
    if len(kept) < len(lines):
        kept.append("[the rest of this file is binary and was not searched]")
    return "\n".join(kept) + "\n"


def _heading(shown: str) -> str:
    """The line above a file's matches, such that it does not look like one of them."""
    number, colon, _ = shown.partition(":")
    return f"./{shown}" if colon and number.isdigit() else shown


def search_files(
    query: SearchQuery,
    shown: Callable[[Path], str],
    check: Callable[[], None],
    leaves_out: LeavesOut = leaves_out_nothing,
    gate: Gate = UNGATED,
) -> Iterator[str]:
    """Our own search: pieces of text, one for each file with matches. Links are not followed, as by ripgrep.

    `check` is called for each file and raises to stop. Raises `ValueError` for a bad pattern, glob or type.
    """
    pattern = _compile(query)
    only = Glob(query.glob) if query.glob else None
    kind = Glob(_glob_of(query.file_type)) if query.file_type else None
    first = True
    for entry in _candidates(query.top, check, leaves_out, gate):
        check()
        if (only and not only.matches(entry.relative)) or (kind and not kind.matches(entry.relative)):
            continue
        found = _search_file(pattern, Path(entry.path), shown, query, gate)
        if found:
            yield found if first or query.mode != "content" else f"\n{found}"
            first = False


def _compile(query: SearchQuery) -> regex.Pattern[str]:
    import regex

    flags = regex.MULTILINE
    if query.ignore_case:
        flags |= regex.IGNORECASE
    if query.multiline:
        flags |= regex.DOTALL
    try:
        return regex.compile(query.pattern, flags)
    except regex.error as error:
        raise ValueError(f"the pattern is no regular expression: {error}") from error


def _glob_of(file_type: str) -> str:
    glob = FILE_TYPES.get(file_type)
    if glob is None:
        raise ValueError(f"there is no file type {file_type!r}; use `glob`, or one of {', '.join(FILE_TYPES)}")
    return glob


def _candidates(top: Path, check: Callable[[], None], leaves_out: LeavesOut, gate: Gate) -> Iterator[Entry]:
    if top.is_dir():
        return walk_files(top, check, leaves_out, gate)
    return iter((Entry(str(top), top.name, False),))


def _search_file(
    pattern: regex.Pattern[str], path: Path, shown: Callable[[Path], str], query: SearchQuery, gate: Gate
) -> str:
    try:
        file = decode_text(read_bytes(path, MAX_SEARCHED_FILE, gate, follow=path == query.top))
    except OSError:
        return ""
    if file is None:
        return ""
    text = file.text.replace("\r\n", "\n")
    lines = text.removesuffix("\n").split("\n") if text else []
    matched = {number for number in _matching_lines(pattern, text, lines, query) if number < len(lines)}
    if not matched:
        return ""
    if query.mode == "files_with_matches":
        return f"{shown(path)}\n"
    if query.mode == "count":
        return f"{shown(path)}:{len(matched)}\n"
    return f"{_heading(shown(path))}\n" + _with_context(lines, matched, query)


def _matching_lines(pattern: regex.Pattern[str], text: str, lines: list[str], query: SearchQuery) -> set[int]:
    """Numbers, from 0, of the lines a match touches. Slow patterns give what was found in time."""
    matched: set[int] = set()
    until = time.monotonic() + query.file_seconds
    try:
        if query.multiline:
            for match in pattern.finditer(text, timeout=query.file_seconds, concurrent=True):
                start, end = match.span()
                first = text.count("\n", 0, start)
                matched.update(range(first, first + text.count("\n", start, max(start, end - 1)) + 1))
        else:
            for number, line in enumerate(lines):
                if pattern.search(line, timeout=max(0.001, until - time.monotonic()), concurrent=True):
                    matched.add(number)
    except TimeoutError:
        return matched
    return matched


def _with_context(lines: list[str], matched: set[int], query: SearchQuery) -> str:
    wanted = sorted(
        {
            near
            for number in matched
            for near in range(number - query.before, number + query.after + 1)
            if 0 <= near < len(lines)
        }
    )
    parts: list[str] = []
    previous = -1
    for number in wanted:
        if previous >= 0 and number > previous + 1 and (query.before or query.after):
            parts.append("--\n")
        line = lines[number]
        if len(line) > MAX_COLUMNS:
            line = f"{line[:MAX_COLUMNS]} [... omitted end of long line]"
        parts.append(f"{number + 1}{':' if number in matched else '-'}{line}\n")
        previous = number
    return "".join(parts)
