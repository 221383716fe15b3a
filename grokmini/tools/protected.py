"""Places that no call may touch unasked: our own settings and sessions, and what steers git and us in a project."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from grokmini.files.places import PROJECT_FOLDER, real_path
from grokmini.tools.shell_parse import Command, Word

STEERING = frozenset({".git", PROJECT_FOLDER})
_PROC = Path("/proc")
_PROC_OPEN = frozenset({"cpuinfo", "meminfo", "version", "loadavg", "uptime", "stat", "filesystems", "mounts"})
_SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg"})


class Protected(NamedTuple):
    """`own` are our folders (settings, state, data): nothing writes there. `secret` are those among them that hold
    keys: reading them is asked about. Made by `protect`.
    """

    own: tuple[Path, ...] = ()
    secret: tuple[Path, ...] = ()

    def owns(self, path: Path) -> bool:
        """Whether the path, as given or with its links resolved, is in one of our folders."""
        return self.owns_form(forms(path))

    def owns_form(self, path_forms: Sequence[Path]) -> bool:
        """The same, of the forms of a path."""
        return any(form.is_relative_to(folder) for form in path_forms for folder in self.own)

    def hides(self, path: Path) -> bool:
        """Whether reading the path could show keys: our settings, or other programs' memory and environment."""
        for form in forms(path):
            if any(form.is_relative_to(folder) for folder in self.secret):
                return True
            if form.is_relative_to(_PROC) and not (form.parent == _PROC and form.name in _PROC_OPEN):
                return True
        return False

    def lies_below(self, path: Path) -> bool:
        """Whether something hidden is in the folder or below it."""
        return any(hidden.is_relative_to(form) for form in forms(path) for hidden in (*self.secret, _PROC))

    def shown_by(self, command: Command, folder: Path) -> str:
        """The word through which a reading command would show something hidden; empty when there is none."""
        name = command.words[0].text if command.words else ""
        for word in (*command.words[1:], *command.reads):
            for path in word_paths(word, folder):
                if self.hides(path):
                    return word.text
                if name in _SEARCHERS and self.lies_below(path):
                    return word.text
            if word.kind == "glob" and self.lies_below(_fixed_part(word, folder)):
                return word.text
        return ""


NOTHING = Protected()


def protect(own: Sequence[Path], secret: Sequence[Path]) -> Protected:
    """Protect these folders, under the names given and the real ones."""
    return Protected(
        tuple(form for folder in own for form in forms(folder)),
        tuple(form for folder in secret for form in forms(folder)),
    )


def forms(path: Path) -> tuple[Path, ...]:
    """The path without dots, and with its links resolved."""
    given, real = Path(os.path.normpath(path)), real_path(path)
    return (given,) if given == real else (given, real)


def steers(path_forms: Sequence[Path]) -> str:
    """The folder that makes a path one that steers git or us (`.git`, `.grokmini`); empty when it has none."""
    for form in path_forms:
        for part in form.parts:
            if part.casefold() in STEERING:
                return part
    return ""


def never_asked(path_forms: Sequence[Path]) -> bool:
    """Whether a path that the sandbox keeps read-only is one that no answer opens: our project folder, git's hooks."""
    for form in path_forms:
        parts = [part.casefold() for part in form.parts]
        if PROJECT_FOLDER in parts or (".git" in parts and "hooks" in parts[parts.index(".git") :]):
            return True
    return False


def word_paths(word: Word, folder: Path) -> Iterator[Path]:
    """What a word of a command may name as a path: itself, an option's value, what follows a short option."""
    text = word.text
    candidates = [text]
    if "=" in text:
        candidates.append(text.partition("=")[2])
    if text.startswith("-") and len(text) > 2:
        candidates.append(text[2:])
    if text.startswith("@"):
        candidates.append(text[1:])
    for candidate in candidates:
        if not candidate or "\x00" in candidate or len(candidate) > 4096:
            continue
        if candidate == "~" or candidate.startswith("~/"):
            yield Path.home() / candidate[2:]
        else:
            yield folder / candidate


MAX_PATHS = 3_000


def named_paths(words: Iterable[Word], folders: Sequence[Path]) -> dict[Path, tuple[Path, ...]]:
    """Every path that one of the words may name, each once with its forms; `MAX_PATHS` at most."""
    found: dict[Path, tuple[Path, ...]] = {}
    for word in dict.fromkeys(words):
        for folder in folders:
            for path in word_paths(word, folder):
                if path not in found:
                    found[path] = forms(path)
        if len(found) >= MAX_PATHS:
            break
    return found


def _fixed_part(word: Word, folder: Path) -> Path:
    """The folder in front of a word's first wildcard."""
    text = word.text
    first = min((text.find(char) for char in "*?[" if char in text), default=len(text))
    head = text[:first].rpartition("/")[0] or ("/" if text.startswith("/") else ".")
    return next(word_paths(Word(head), folder))
