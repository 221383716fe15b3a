"""Files named `.env*` in the project, which often hold keys: whoever would show one asks first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from grokmini.tools.command_reads import expand_wildcards
from grokmini.tools.command_review import Review
from grokmini.tools.path_rules import allows_path
from grokmini.tools.protected import forms, named_paths
from grokmini.tools.rules import Rule, allows_command, governs
from grokmini.tools.shell_parse import Command, Script, Word

PREFIX = ".env"
_ONLY_NAMES = frozenset(
    {"ls", "stat", "du", "df", "wc", "file", "find", "tree", "echo", "printf", "basename", "dirname", "realpath",
     "readlink", "which"}
)  # fmt: skip
"""Commands that tell of a file's name, size and kind, and nothing of what it holds."""
_GIT_ONLY_NAMES = frozenset({"status", "ls-files", "ls-tree", "check-ignore", "rev-parse"})


def is_env_file(path_forms: Sequence[Path], project: Path) -> bool:
    """Whether one of a path's forms (as given, and with its links resolved) is such a file of the project."""
    for form in path_forms:
        if form.name.startswith(PREFIX) and any(form.is_relative_to(root) for root in forms(project)):
            return os.path.lexists(form) and not os.path.isdir(form)
    return False


def shown_env_file(reviewed: Review, project: Path, rules: Sequence[Rule], root: Path) -> Path | None:
    """The first one whose content a command would show and no allow rule, for the command or for the file, lets it."""
    runs = [rule for rule in rules if governs(rule, "Bash")]
    reads = [rule for rule in rules if governs(rule, "Read")]
    for path in _shown(reviewed, project, lambda command: any(allows_command(rule, command) for rule in runs)):
        if not any(allows_path(rule, path, root) for rule in reads):
            return path
    return None


def _shown(reviewed: Review, project: Path, allowed: Callable[[Command], bool]) -> Iterator[Path]:
    """Those that a part would show that only reads and is not allowed by itself."""
    shows = [
        part.command
        for part in reviewed.parts
        if not part.objection and not _shows_only_names(part.command) and not allowed(part.command)
    ]
    words = dict.fromkeys(word for command in shows for word in (*command.words[1:], *command.reads))
    behind = [Word(word.text.rpartition(":")[2]) for word in words if ":" in word.text]
    likely = sorted((*words, *behind), key=lambda word: PREFIX not in word.text)  # only so many are looked at
    for path, path_forms in named_paths(likely, reviewed.folders).items():
        if is_env_file(path_forms, project):
            yield path
    wild = reviewed._replace(script=Script(tuple(shows)), invocations=())
    yield from (path for path in expand_wildcards(wild).paths if is_env_file(forms(path), project))


def _shows_only_names(command: Command) -> bool:
    words = [word.text for word in command.words]
    if words[:1] == ["git"]:
        return next((word for word in words[1:] if not word.startswith("-")), "") in _GIT_ONLY_NAMES
    return words[:1] != [] and words[0] in _ONLY_NAMES and not command.reads
