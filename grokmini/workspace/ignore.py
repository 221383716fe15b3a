"""What git would not see: `.gitignore` files from the repository's root down, and `.git/info/exclude`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grokmini.workspace.files import read_bytes
from grokmini.workspace.gate import UNGATED, Gate

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

MAX_RULES_BYTES = 1_000_000


class _Layer(NamedTuple):
    base: str
    spec: GitIgnoreSpec


class IgnoreRules:
    """The rules in force in one folder. Deeper files beat higher ones; `.git` itself is always ignored."""

    def __init__(self, layers: tuple[_Layer, ...] = (), gate: Gate = UNGATED) -> None:
        self._layers = layers
        self._gate = gate

    def enter(self, folder: Path) -> IgnoreRules:
        """The rules in a folder below."""
        layer = _load(folder / ".gitignore", folder, self._gate)
        return IgnoreRules((*self._layers, layer), self._gate) if layer is not None else self

    def ignores(self, path: str, *, is_dir: bool) -> bool:
        """Whether an absolute path is ignored by itself (its folders are asked before)."""
        if path.endswith("/.git"):
            return True
        for layer in reversed(self._layers):
            relative = path[len(layer.base) :] + ("/" if is_dir else "")
            verdict = layer.spec.check_file(relative).include
            if verdict is not None:
                return verdict
        return False


def rules_for(folder: Path, gate: Gate = UNGATED) -> IgnoreRules:
    """The rules in force in a folder: those of its repository, if it is in one, and its own."""
    chain = [folder, *folder.parents]
    top = next((one for one in chain if os.path.exists(one / ".git")), folder)
    exclude = _load(top / ".git" / "info" / "exclude", top, gate)
    rules = IgnoreRules((exclude,) if exclude is not None else (), gate)
    for step in reversed(chain[: chain.index(top) + 1]):
        rules = rules.enter(step)
    return rules


def _load(file: Path, base: Path, gate: Gate) -> _Layer | None:
    try:
        lines = read_bytes(file, MAX_RULES_BYTES, gate).decode("utf-8", "replace").splitlines()
    except OSError:
        return None
    wanted = [line for line in lines if line.strip() and not line.startswith("#")]
    if not wanted:
        return None
    from pathspec import GitIgnoreSpec

    try:
        spec = GitIgnoreSpec.from_lines(wanted)
    except ValueError:  # one bad pattern: the others still count
        spec = GitIgnoreSpec.from_lines(line for line in wanted if _is_pattern(line))
    return _Layer(f"{str(base).rstrip('/')}/", spec)


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
