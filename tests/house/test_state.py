"""No hidden state, no swallowed errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.house.sources import PARSED_ONCE, Source, sources

pytestmark = PARSED_ONCE

MUTABLE_CALLS = frozenset(
    {"list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter", "Event", "Lock", "Queue"}
)
OUTERMOST_FRAMES = frozenset(
    {
        "grokmini/cli/headless_run.py",  # a headless run: formats with a place for errors tell of it
        "grokmini/cli/main.py",  # the program: no traceback reaches the terminal
        "grokmini/session/call_runner.py",  # one tool call: whatever a tool raises becomes its result
        "grokmini/session/engine.py",  # the session's task and the turn's: a fault is told, the session goes on
        "grokmini/session/titles.py",  # asking for a title: a fault costs the title alone
        "grokmini/session/tool_calls.py",  # judging one call: a fault refuses that call, not the others
        "grokmini/session/turn.py",  # one turn: whatever goes wrong ends it as `error`
        "grokmini/store/session_writer.py",  # the writer thread: whoever waits for it is answered
    }
)
"""Modules that may catch everything, because a task of their own ends there."""


def test_nothing_uses_global() -> None:
    uses = [
        f"{source.path}:{node.lineno}"
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Global)
    ]
    assert uses == []


def assigned(source: Source) -> Iterator[tuple[str, int, ast.expr]]:
    """Names bound at module level."""
    for node in source.tree.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.lineno, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.lineno, node.value


def is_mutable(value: ast.expr) -> bool:
    """Whether the expression makes a container or a thing that is changed in use."""
    if isinstance(value, ast.List | ast.Set | ast.ListComp | ast.SetComp):
        return True
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return name in MUTABLE_CALLS
    return False


def test_module_level_holds_no_mutable_state() -> None:
    """Tables (dict displays) are allowed: `test_module_level_tables_are_never_changed` watches them."""
    found = [
        f"{source.path}:{line} {name}"
        for source in sources()
        for name, line, value in assigned(source)
        if name != "__all__" and is_mutable(value)
    ]
    assert found == []


def test_module_level_tables_are_never_changed() -> None:
    changed = []
    for source in sources():
        tables = {name for name, _, value in assigned(source) if isinstance(value, ast.Dict | ast.DictComp)}
        for node in ast.walk(source.tree):
            changed += [f"{source.path}: {name}" for name in changed_names(node) if name in tables]
    assert changed == []


def changed_names(node: ast.AST) -> list[str]:
    """Names whose value this statement or call changes in place."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
        return [node.value.id] if isinstance(node.value, ast.Name) else []
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
    ):
        return (
            [node.func.value.id]
            if node.func.attr in {"update", "pop", "clear", "setdefault", "popitem"}
            else []
        )
    return []


def catches_everything(handler: ast.ExceptHandler) -> bool:
    """`except:`, `except Exception` or `except BaseException` that does not raise again."""
    names = [node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)] if handler.type else [""]
    if not any(name in ("", "Exception", "BaseException") for name in names):
        return False
    return not any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))


def test_only_the_outermost_frame_of_a_task_catches_everything() -> None:
    found = [
        f"{source.path}:{node.lineno}"
        for source in sources()
        if source.path not in OUTERMOST_FRAMES
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler) and catches_everything(node)
    ]
    assert found == []


def test_the_list_of_outermost_frames_is_current() -> None:
    using = {
        source.path
        for source in sources()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler) and catches_everything(node)
    }
    assert using >= OUTERMOST_FRAMES


def test_nothing_is_left_unfinished() -> None:
    mark = re.compile(r"\b(TODO|FIXME|XXX)\b")
    found = [
        f"{source.path}:{number}"
        for source in sources()
        for number, line in enumerate(source.text.splitlines(), 1)
        if mark.search(line)
    ]
    assert found == []
