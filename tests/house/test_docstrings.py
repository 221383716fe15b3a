"""Whatever is public says what it means."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.house.sources import PARSED_ONCE, Function, Source, sources

pytestmark = PARSED_ONCE


def public_definitions(source: Source) -> Iterator[tuple[str, ast.AST]]:
    """Public classes, functions and methods of a module. What a base class documents need not be said again."""
    for node in source.tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            inherits = any(
                not isinstance(base, ast.Name) or base.id not in ("Protocol",) for base in node.bases
            )
            for inner in node.body:
                if isinstance(inner, Function) and not inner.name.startswith("_") and not inherits:
                    yield f"{node.name}.{inner.name}", inner


def test_every_module_has_a_docstring() -> None:
    assert [source.path for source in sources() if not ast.get_docstring(source.tree)] == []


def test_every_public_class_and_function_has_a_docstring() -> None:
    bare = [
        f"{source.path}: {name}"
        for source in sources()
        for name, node in public_definitions(source)
        if isinstance(node, Function | ast.ClassDef) and not ast.get_docstring(node)
    ]
    assert bare == []
