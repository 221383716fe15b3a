"""What is known of a shell command before it runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from grokmini.files.places import real_path
from grokmini.tools.danger import Danger, danger
from grokmini.tools.git_trust import runs_programs
from grokmini.tools.invocations import INTERPRETERS, Invocations
from grokmini.tools.protected import MAX_PATHS, Protected, named_paths
from grokmini.tools.read_only import objection
from grokmini.tools.shell_parse import Command, Script, Word, parse

Allowed: TypeAlias = Callable[[Command], bool]

MAX_LOOKS = 2_000
"""Parts of a command times the folders that each may be in, up to which it is followed from folder to folder."""
DEV_NULL = Word("/dev/null")


class Part(NamedTuple):
    """A simple command of the list, and why it is not known to only read (empty when it is)."""

    command: Command
    objection: str

    @property
    def writes_files(self) -> bool:
        """Whether its output goes to a file."""
        return any(target != DEV_NULL for target in self.command.writes)

    @property
    def reads_a_program(self) -> bool:
        """Whether it is an interpreter that is fed from somewhere: no rule for its words covers what it runs."""
        command = self.command
        fed = command.piped or bool(command.reads) or bool(command.inputs)
        name = command.words[0].text.rsplit("/", 1)[-1] if command.words else ""
        return fed and name in INTERPRETERS

    def needs(self, allowed: Allowed) -> bool:
        """Whether it neither only reads nor is allowed."""
        if not self.objection:
            return False
        return self.writes_files or self.reads_a_program or not allowed(self.command)


class Review(NamedTuple):
    """A command taken apart.

    `obscure` is true when parts of it were not looked at. `folders` are those it may be in as it runs, the first
    where it starts. `named` and `written` are the paths that its words, and its redirections, may name, each with
    its forms (as given, and with its links resolved).
    """

    text: str
    script: Script
    parts: tuple[Part, ...]
    invocations: tuple[tuple[str, ...], ...]
    obscure: bool
    folders: tuple[Path, ...]
    dangers: tuple[Danger, ...]
    named: dict[Path, tuple[Path, ...]]
    written: dict[Path, tuple[Path, ...]]

    @property
    def doubt(self) -> str:
        """Why the command is not known to only read; empty when it is."""
        if self.script.doubts:
            return self.script.doubts[0]
        if not self.parts:
            return "it has no command"
        return next((part.objection for part in self.parts if part.objection), "")


def review(text: str, folder: Path, root: Path, protected: Protected) -> Review:
    """Look at a command that would start in `folder`. Reads git's settings there; runs nothing."""
    script = parse(text)
    found = Invocations(script)
    folders = [folder]
    parts: list[Part] = []
    trust: dict[Path, str] = {}
    looks = 0
    for command in script.commands:
        target = _cd_target(command, folders[-1])
        looks += len(folders) if len(folders) > 1 else 0
        if looks > MAX_LOOKS:
            parts.append(Part(command, "it changes folders too often to be followed"))
        elif target is not None:
            inside = target.is_relative_to(real_path(root))
            parts.append(Part(command, "" if inside else f"it leaves {root.name or root} for {target}"))
            folders.append(target)
        else:
            parts.append(Part(command, _objection(command, folders, protected, trust)))
    dangers = tuple(dict.fromkeys(one for words in found.found if (one := danger(words))))
    every = (*script.commands, *script.nested)
    named = named_paths((word for one in every for word in (*one.words, *one.reads, *one.writes)), folders)
    written = named_paths((word for one in every for word in one.writes), folders)
    obscure = looks > MAX_LOOKS or found.obscure or len(named) >= MAX_PATHS
    return Review(
        text, script, tuple(parts), tuple(found.found), obscure, tuple(folders), dangers, named, written
    )


def _cd_target(command: Command, folder: Path) -> Path | None:
    """Where a plain `cd FOLDER` goes; None for any other command."""
    words = command.words
    if command.writes or command.reads or len(words) != 2 or words[0] != Word("cd"):
        return None
    if words[1].kind != "literal" or words[1].text.startswith(("-", "~")) or "\x00" in words[1].text:
        return None
    return real_path(folder / words[1].text)


def _objection(command: Command, folders: list[Path], protected: Protected, trust: dict[Path, str]) -> str:
    if reason := objection(command):
        return reason
    for folder in folders:
        if shown := protected.shown_by(command, folder):
            return f"{shown} may show keys or other programs' secrets"
        if command.words[0].text == "git":
            if folder not in trust:
                trust[folder] = runs_programs(folder)
            if trust[folder]:
                return f"git would obey the repository's own settings: {trust[folder]}"
    return ""


def passes(reviewed: Review, allowed: Allowed) -> bool:
    """Whether every part only reads or is allowed, and there is nothing else in the command."""
    if reviewed.script.doubts or not reviewed.parts:
        return False
    return not any(part.needs(allowed) for part in reviewed.parts)
