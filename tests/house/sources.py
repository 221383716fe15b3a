"""The program's own source files, parsed."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PARSED_ONCE = pytest.mark.xdist_group("sources")
"""For the tests that ask for `sources`: all in one process."""

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


@cache
def sources() -> tuple[Source, ...]:
    """All modules of the package."""
    return tuple(_read())


def _read() -> Iterator[Source]:
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield Source(path.relative_to(ROOT).as_posix(), text, ast.parse(text))


@cache
def third_party_imports(source: Source) -> frozenset[str]:
    """The top-level names of packages that are neither the standard library's nor our own."""
    return imported_names(source) - sys.stdlib_module_names - {PACKAGE.name}


def imported_names(source: Source) -> frozenset[str]:
    """The top-level names of all packages that it imports."""
    return frozenset(name.partition(".")[0] for name in _imported_modules(source))


def _imported_modules(source: Source) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
