"""Instruction files: AGENTS.md and its kin, found from the general to the particular.

First the user's own (our settings' folder, `~/.claude`), then each folder from the repository's root down to the
working folder. Later ones win. Within a folder the order is that of `NAMES`, then the rules' folders, file by file
in alphabetical order (reference/config.md part 4).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, NamedTuple

import msgspec

from grokmini.files.descriptors import place_of
from grokmini.files.places import PROJECT_FOLDER, real_path
from grokmini.files.regular import ASIDE, read_start
from grokmini.prompt.repository import shown
from grokmini.text.frontmatter import strip_frontmatter

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

NAMES = (
    "Agents.md", "Claude.md", "CLAUDE.md", "CLAUDE.local.md", "AGENT.md", "AGENTS.md",
    ".claude/CLAUDE.md", ".claude/CLAUDE.local.md",
)  # fmt: skip
RULE_FOLDERS = (f"{PROJECT_FOLDER}/rules", ".grok/rules", ".claude/rules", ".cursor/rules")

MAX_BYTES = 256_000
"""What is longer is cut there, and the text says so."""

MAX_FILES = 200


class InstructionFile(msgspec.Struct, frozen=True):
    """One file's text without its front matter. `origin` says whose it is."""

    path: str
    origin: Literal["user", "project"]
    text: str


class Skipped(msgspec.Struct, frozen=True):
    """A file that looked like instructions and was left out, and why. `odd`: the person should hear of it."""

    path: str
    reason: str
    odd: bool = False


class Found(NamedTuple):
    """What was found, in order; later wins."""

    files: tuple[InstructionFile, ...]
    skipped: tuple[Skipped, ...]


def discover(
    cwd: Path,
    *,
    repository: Path | None,
    home: Path | None,
    config_folder: Path | None,
    check: Callable[[int], None] = lambda fd: None,
) -> Found:
    """Find and read them all. Without a repository only `cwd` itself is looked at. Unreadable files are skipped.

    `check` is asked about each open file of the project and raises `OSError` for one that may not be read.
    """
    collector = _Collector(check)
    if config_folder is not None:
        collector.take(_in_folder(config_folder, ("AGENTS.md",), ("rules",)), "user", None)
    if home is not None:
        collector.take(_in_folder(home / ".claude", ("CLAUDE.md",), ("rules",)), "user", None)
    real = real_path(cwd)
    root = repository if repository is not None and real.is_relative_to(repository) else real
    parts = real.relative_to(root).parts
    ignored = _Ignored(root) if repository is not None else None
    for count in range(len(parts) + 1):
        folder = root.joinpath(*parts[:count])
        collector.take(_in_folder(folder, NAMES, RULE_FOLDERS), "project", ignored, root)
    return Found(tuple(collector.files), tuple(collector.skipped))


def _in_folder(folder: Path, names: Sequence[str], rule_folders: Sequence[str]) -> Iterator[Path]:
    for name in names:
        if _may_be_file(path := folder / name):
            yield path
    for name in rule_folders:
        try:
            found = sorted((folder / name).glob("*.md"))
        except OSError:
            continue
        yield from filter(_may_be_file, found)


def _may_be_file(path: Path) -> bool:
    """Whether it is a file, or lies where we cannot look, which reading it tells then."""
    try:
        return path.is_file()
    except OSError:
        return True


class _Collector:
    """Reads candidates, each real file once."""

    def __init__(self, check: Callable[[int], None]) -> None:
        self._check = check
        self.files: list[InstructionFile] = []
        self.skipped: list[Skipped] = []
        self._seen: set[tuple[int, int]] = set()

    def take(
        self,
        paths: Iterator[Path],
        origin: Literal["user", "project"],
        ignored: _Ignored | None,
        root: Path | None = None,
    ) -> None:
        """Read the files that count. With `root`, links that lead out of it do not."""
        for path in paths:
            try:
                self._take_one(path, origin, ignored, root)
            except OSError as error:
                self.skipped.append(Skipped(shown(path), f"cannot be read: {error.strerror}", odd=True))

    def _take_one(
        self, path: Path, origin: Literal["user", "project"], ignored: _Ignored | None, root: Path | None
    ) -> None:
        fd = os.open(path, ASIDE)
        with os.fdopen(fd, "rb") as file:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) in self._seen:
                return
            self._seen.add((status.st_dev, status.st_ino))
            if root is not None and not Path(place_of(fd)).is_relative_to(root):
                self.skipped.append(Skipped(shown(path), "is a link that leads out of the project", odd=True))
            elif ignored is not None and ignored.covers(path):
                self.skipped.append(Skipped(shown(path), "is ignored by git"))
            elif len(self.files) >= MAX_FILES:
                self.skipped.append(Skipped(shown(path), f"is beyond the first {MAX_FILES} files"))
            else:
                if root is not None:
                    self._check(fd)
                text = _text_of(file)
                if text.strip():
                    self.files.append(InstructionFile(shown(path), origin, text))


def _text_of(file: BinaryIO) -> str:
    data = file.read(MAX_BYTES + 1)
    text = strip_frontmatter(data[:MAX_BYTES].decode("utf-8", "replace").replace("\r\n", "\n")).rstrip()
    if len(data) > MAX_BYTES:
        text += f"\n\n(cut here: the file is longer than {MAX_BYTES:,} bytes)"
    return text


class _Ignored:
    """Git's ignore rules below a root: `.git/info/exclude`, then each `.gitignore` down to the file."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._by_folder: dict[Path, GitIgnoreSpec | None] = {}

    def covers(self, path: Path) -> bool:
        """Whether git would ignore the file or a folder it is in. The nearest rule decides."""
        below = path.relative_to(self._root)
        return any(
            self._matches(below.parts[:count], is_folder=count < len(below.parts))
            for count in range(1, len(below.parts) + 1)
        )

    def _matches(self, parts: tuple[str, ...], *, is_folder: bool) -> bool:
        for depth in range(len(parts) - 1, -1, -1):
            spec = self._spec(self._root.joinpath(*parts[:depth]))
            if spec is None:
                continue
            name = "/".join(parts[depth:]) + ("/" if is_folder else "")
            verdict = spec.check_file(name).include
            if verdict is not None:
                return verdict
        return False

    def _spec(self, folder: Path) -> GitIgnoreSpec | None:
        if folder not in self._by_folder:
            lines = _lines_of(folder / ".gitignore")
            if folder == self._root:
                lines = _lines_of(folder / ".git" / "info" / "exclude") + lines
            self._by_folder[folder] = _compile(lines) if lines else None
        return self._by_folder[folder]


def _lines_of(file: Path) -> list[str]:
    try:
        return read_start(file, MAX_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _compile(lines: list[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)
