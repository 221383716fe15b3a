"""What a command would read besides the files it names: through wildcards, and by going through whole folders.

Looked at only when a deny rule is about reading. What is sure is told as paths, what cannot be known as a doubt.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.tools.command_review import Review
from grokmini.tools.protected import word_paths
from grokmini.tools.read_denials import ReadDenials
from grokmini.tools.rules import Rule
from grokmini.tools.shell_parse import Word
from grokmini.workspace.globs import expand_braces
from grokmini.workspace.walk import walk_files

MAX_EXPANDED: Final = 5_000
"""Names that wildcards stand for, looked at for one command."""
MAX_WALKED: Final = 30_000
"""Entries of folders, looked at for one command."""

_WILD: Final = frozenset("*?[")
_BRACKETS: Final = r"\[[!^]?\]?(?:\[:\w+:\]|[^\]/])*\]"
_NAMING: Final = ("shopt", "globstar", "dotglob", "extglob", "nocaseglob", "GLOBIGNORE")

_GREPS: Final = frozenset({"grep", "egrep", "fgrep", "zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep"})
_SEARCHERS: Final = frozenset({"rg", "ag", "ack", "ugrep", "ug", "rgrep"})
_COPIERS: Final = frozenset({"cp", "scp", "diff"})
_PACKERS: Final = frozenset({"tar", "bsdtar", "zip", "7z", "7za", "rsync", "cpio"})
_FEEDERS: Final = frozenset({"xargs", "parallel", "read", "mapfile", "readarray", "cpio"})
_READERS: Final = _GREPS | _SEARCHERS | _COPIERS | _PACKERS | frozenset(
    {"cat", "tac", "head", "tail", "less", "more", "bat", "nl", "cut", "sort", "uniq", "wc", "tr", "sed", "awk", "gawk",
     "mawk", "xxd", "od", "hexdump", "strings", "base64", "base32", "paste", "comm", "cmp", "join", "fold", "rev", "jq",
     "yq", "mv", "ln", "install", "dd", "tee", "source", ".", "view", "vi", "vim", "ed", "column", "pr", "split"}
)  # fmt: skip
_VALUELESS: Final = dict.fromkeys(_GREPS, frozenset("nilwvcoqsHhFEPGxLrRzZaIbTUuyV0123456789")) | {
    "rg": frozenset("nilwvcoqsHhFPxLzabSuUNpIV0.")
}
"""Short options that take no value. Of any other the next word may be the value."""


class DeniedRead(NamedTuple):
    """A file that the command would read, and the rule that denies it."""

    path: Path
    rule: Rule


class Expansion(NamedTuple):
    """The paths that wildcards stand for. `complete` is false when there were too many."""

    paths: tuple[Path, ...]
    complete: bool


class Sweep(NamedTuple):
    """What a command would read besides what it names. `denied` is a denied file in a folder it goes through,
    `doubt` why it cannot be known what it reads ("it …"), empty when it can.
    """

    paths: tuple[Path, ...] = ()
    denied: DeniedRead | None = None
    doubt: str = ""


def sweep(reviewed: Review, denials: ReadDenials, *, most: int = MAX_WALKED) -> Sweep:
    """Look at wildcards and at `most` entries of folders. Reads folders only."""
    expansion = expand_wildcards(reviewed)
    if not denials.any:
        return Sweep(expansion.paths)
    try:
        denied = denied_in_folders(reviewed, denials, most)
    except TooMuchError:
        return Sweep(expansion.paths, None, "it goes through more files than can be checked")
    doubt = (
        doubtful_reads(reviewed) if expansion.complete else "its wildcards stand for too many names to check"
    )
    return Sweep(expansion.paths, denied, doubt)


def expand_wildcards(reviewed: Review) -> Expansion:
    """Every path that a word with wildcards or braces may become, in each folder the command may be in."""
    found: dict[Path, None] = {}
    for pattern in _patterns(reviewed):
        for folder in reviewed.folders:
            for path in _expand(pattern, folder):
                found[path] = None
                if len(found) > MAX_EXPANDED:
                    return Expansion(tuple(found), complete=False)
    return Expansion(tuple(found), complete=True)


def denied_in_folders(reviewed: Review, denials: ReadDenials, most: int) -> DeniedRead | None:
    """The first denied file in a folder that the command would go through.

    Raises `TooMuchError` when there is too much to look through.
    """
    room = [most]
    for tree in dict.fromkeys(_trees(reviewed)):
        for path in _files(tree, room):
            if rule := denials.rule_for(path):
                return DeniedRead(Path(path), rule)
    return None


class TooMuchError(Exception):
    """There are more files than are looked at."""


def doubtful_reads(reviewed: Review) -> str:
    """Why it cannot be known which files the command reads ("it …"); empty when it can."""
    if any(word in reviewed.text for word in _NAMING):
        return "it changes which names wildcards stand for"
    names = {_name(words) for words in reviewed.invocations}
    if names & _FEEDERS and names & _READERS:
        return "which files it reads is not known before it runs"
    for command in (*reviewed.script.commands, *reviewed.script.nested):
        reads = bool(command.words) and command.words[0].text.rsplit("/", 1)[-1] in _READERS
        for word in (*(command.words[1:] if reads else ()), *command.reads):
            if word.kind == "dynamic" and not _only_braces(word.text):
                return f"what {word.text} stands for is not known before it runs"
    if any(words[:2] == ("git", "grep") for words in reviewed.invocations):
        return "git grep may show them"
    return ""


def _patterns(reviewed: Review) -> list[str]:
    """The texts with wildcards: what is bare in the command itself, and anything in what it hands to a shell."""
    patterns: dict[str, None] = {}
    direct: set[str] = set()
    for command in (*reviewed.script.commands, *reviewed.script.nested):
        for word in (*command.words, *command.reads, *command.writes):
            direct.add(word.text)
            if word.kind == "glob":
                patterns[word.text] = None
            elif word.kind == "dynamic" and _only_braces(word.text):
                patterns |= dict.fromkeys(_braces(word.text))
    for words in reviewed.invocations:
        patterns |= dict.fromkeys(text for text in words if text not in direct and _WILD & set(text))
    return list(patterns)


def _only_braces(text: str) -> bool:
    return "{" in text and not set("$`") & set(text) and ".." not in text


def _braces(text: str) -> list[str]:
    try:
        return expand_braces(text)
    except ValueError:
        return ["*"]


def _expand(pattern: str, folder: Path) -> Iterator[Path]:
    """What a shell would put for the pattern, or more."""
    if "\x00" in pattern or len(pattern) > 4096:
        return
    pattern = re.sub(_BRACKETS, "?", str(Path(pattern).expanduser()) if pattern.startswith("~/") else pattern)
    if not _WILD & set(pattern):
        yield folder / pattern
        return
    for name in glob.iglob(pattern, root_dir=folder):  # noqa: PTH207 - Path.glob cannot take `..` and absolute ones
        yield folder / name


class _Tree(NamedTuple):
    """A folder that is gone through; `visible` when hidden and ignored files are passed over."""

    path: Path
    visible: bool = False


def _trees(reviewed: Review) -> Iterator[_Tree]:
    names = {_name(words) for words in reviewed.invocations}
    nested = {command.words[0].text for command in reviewed.script.nested if command.words}
    for words in reviewed.invocations:
        name = _name(words)
        for folder in reviewed.folders:
            if name in _SEARCHERS or (name in _GREPS and _has_flag(words, "rR", "--recursive", "recurse")):
                visible = name == "rg" and not _has_flag(
                    words, "u.", "--hidden", "--no-ignore", "--unrestricted"
                )
                yield from (_Tree(path, visible) for path in _searched(name, words, folder))
            elif name in _PACKERS or (name in _COPIERS and _has_flag(words, "rRa", "--recursive", "--archive")):
                yield from (_Tree(path) for path in _existing(words[1:], folder) if os.path.isdir(path))
            elif name in ("find", "fd"):
                acts = any(word.startswith(("-exec", "-ok", "--exec", "-x", "-X")) for word in words)
                if acts or name in nested or names & _FEEDERS:
                    yield from (_Tree(path) for path in _existing(words[1:], folder) or [folder])


def _name(words: Sequence[str]) -> str:
    return words[0].rsplit("/", 1)[-1]


def _has_flag(words: Sequence[str], letters: str, *names: str) -> bool:
    for word in words[1:]:
        if word.startswith("--"):
            given = word[2:].partition("=")[0]
            if any(part in word for part in names) or (
                given and any(n.startswith(f"--{given}") for n in names)
            ):
                return True
        elif (word.startswith("-") and set(letters) & set(word[1:])) or word in names:
            return True
    return False


def _searched(name: str, words: Sequence[str], folder: Path) -> list[Path]:
    """The paths a searching program goes through: those given behind the pattern, else the folder it is in."""
    given: list[str] = []
    after_value_option = ended = False
    for word in words[1:]:
        if word == "--":
            ended = True
        elif word.startswith("-") and not ended:
            after_value_option = _wants_value(name, word)
            continue
        elif not after_value_option or ended:
            given.append(word)
        after_value_option = False
    return _existing(given[1:], folder) or [folder]


def _wants_value(name: str, option: str) -> bool:
    """Whether the word behind an option may be its value."""
    if option.startswith("--"):
        return "=" not in option
    if name not in _VALUELESS:
        return True
    rest = option[1:].lstrip("".join(_VALUELESS[name]))
    return len(rest) == 1


def _existing(words: Sequence[str], folder: Path) -> list[Path]:
    """The paths among the words that are there, wildcards expanded."""
    found: list[Path] = []
    for word in words:
        if _WILD & set(word):
            found += islice(_expand(word, folder), MAX_EXPANDED)
        else:
            found += [path for path in word_paths(Word(word), folder) if os.path.lexists(path)]
    return found


def _files(tree: _Tree, room: list[int]) -> Iterator[str]:
    """The files of a tree. Takes from `room` and raises `TooMuchError` at its end."""

    def spend(entries: int = 1) -> None:
        room[0] -= entries
        if room[0] < 0:
            raise TooMuchError

    yield str(tree.path)
    if tree.visible and os.path.isdir(tree.path):
        for entry in walk_files(tree.path, spend):
            spend()
            yield entry.path
    else:
        for folder, folders, files in os.walk(tree.path):
            spend(1 + len(folders) + len(files))
            for name in (*folders, *files):
                yield f"{folder}/{name}"
