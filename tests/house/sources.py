"""The program's own source files, parsed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "grokmini"

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Source(NamedTuple):
    """One module: its path below the repository, its text and its tree."""

    path: str
    text: str
    tree: ast.Module

    def functions(self) -> Iterator[Function]:
        """Every function and method, nested ones too."""
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node


def sources() -> list[Source]:
    """All modules of the package."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.append(Source(path.relative_to(ROOT).as_posix(), text, ast.parse(text)))
    return found
