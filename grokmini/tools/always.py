"""Whether "always exactly this command" can be offered for a command that leaves the sandbox.

The same text must do the same thing each time, whatever commands inside have changed meanwhile. So it is offered only
for programs of a short list, which do no more than their words say and read no settings of a folder; when each of them
lies where commands cannot write; and when no path of the command is one that commands could change, or make lead
elsewhere. Scripts, interpreters, builders, package managers, git and whatever else reads a project are let out once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grokmini.sandbox.runner import CommandSpec
from grokmini.text.paths import visible_path
from grokmini.tools.invocations import Invocations
from grokmini.tools.programs import find_program
from grokmini.tools.shell_parse import Command, Word, parse

if TYPE_CHECKING:  # loaded when something is confined
    from grokmini.sandbox.policy import Policy

_SPEAKS: Final = frozenset({"echo", "printf", "true", "false", "date", "sleep"})
"""Their words are no paths."""
_PLAIN: Final = frozenset(
    {"touch", "mkdir", "rmdir", "rm", "chmod", "chown", "chgrp", "truncate", "mkfifo", "cat", "cp", "mv", "ln", "head",
     "tail", "wc", "tee", "ls", "stat", "sync"}
)  # fmt: skip
_BUILTIN: Final = frozenset({"echo", "printf", "true", "false"})
_FIRST_IS_NO_PATH: Final = frozenset({"chmod", "chown", "chgrp"})


def why_not_always(command: str, spec: CommandSpec, policy: Policy) -> str:
    """Why the command may not be let out for the rest of the session, in a few words; empty when it may. Looks at the
    disk.
    """
    from grokmini.sandbox.landlock import writable_roots

    script = parse(command)
    if script.doubts or script.nested or not script.commands:
        return (
            f"{script.doubts[0]}, so it may do something else next time" if script.doubts else "it is not plain"
        )
    if policy.write_all:
        return f"under {visible_path(policy.profile)} commands can change what it uses"
    judge = _Judge(spec, tuple(Path(os.path.realpath(root)) for root in writable_roots(policy)))
    return next(filter(None, map(judge.objection, script.commands)), "")


def changeable_programs(command: str, spec: CommandSpec, policy: Policy) -> tuple[str, ...]:
    """The programs that the command would run, by their paths, and that commands can change. Looks at the disk."""
    from grokmini.sandbox.landlock import writable_roots

    judge = _Judge(spec, tuple(Path(os.path.realpath(root)) for root in writable_roots(policy)))
    found = dict.fromkeys(judge.changeable_program(words[0]) for words in Invocations(parse(command)).found)
    return tuple(filter(None, found))


class _Judge:
    """Knows what commands can change."""

    def __init__(self, spec: CommandSpec, roots: tuple[Path, ...]) -> None:
        self._spec = spec
        self._roots = roots

    def objection(self, command: Command) -> str:
        """Why this part may do something else next time."""
        if not command.words or command.words[0].kind != "literal":
            return "what it runs is not known beforehand"
        name = command.words[0].text
        if objection := self._program(name):
            return objection
        speaks = Path(name).name in _SPEAKS
        skipped = 1 if Path(name).name in _FIRST_IS_NO_PATH else 0
        operands = () if speaks else _operands(command.words[1:])[skipped:]
        for word in (*operands, *command.reads, *command.writes):
            if word.kind != "literal":
                return f"what {visible_path(word.text)} stands for may be something else next time"
            if word.text.startswith("~"):
                return (
                    f"what {visible_path(word.text)} stands for may be another path next time: write it whole"
                )
            if self._changeable(word.text.partition("=")[2] if word.text.startswith("-") else word.text):
                return f"commands can change {visible_path(word.text)}"
        return ""

    def _program(self, name: str) -> str:
        if "=" in name or Path(name).name not in _PLAIN | _SPEAKS:
            shown = visible_path(name.partition("=")[0])
            return f"what {shown} does may depend on files that commands can change"
        if name in _BUILTIN:
            return ""
        path = str(self._spec.cwd / name) if "/" in name else find_program(name, self._spec.env.get("PATH"))
        if path is None or self._changeable(path):
            return f"commands can change {visible_path(path or name)}"
        return ""

    def changeable_program(self, name: str) -> str:
        """Where a program is that commands can change, whatever it is; empty for others."""
        path = str(self._spec.cwd / name) if "/" in name else find_program(name, self._spec.env.get("PATH"))
        return path if path is not None and os.path.isfile(path) and self._changeable(path) else ""

    def _changeable(self, text: str) -> bool:
        """Whether a path is one that commands can write, or passes through such a folder."""
        here = Path("/") if text.startswith("/") else self._spec.cwd
        for part in Path(text).parts:
            here = here.parent if part == ".." else here / part
            if self._in_roots(here):
                return True
        return bool(text) and self._in_roots(Path(os.path.realpath(self._spec.cwd / text)))

    def _in_roots(self, path: Path) -> bool:
        return any(path == root or path.is_relative_to(root) for root in self._roots)


def _operands(words: Sequence[Word]) -> list[Word]:
    """The words that may be paths: options with a value (`--reference=x`) among them."""
    ended = False
    found = []
    for word in words:
        if not ended and word.text == "--":
            ended = True
        elif ended or not word.text.startswith("-") or "=" in word.text or word.kind != "literal":
            found.append(word)
    return found
