"""The set of built-in tools: one line each, imported when the set is built."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from grokmini.protocol.errors import UsageError
from grokmini.text.nearest import nearest
from grokmini.tools.contract import Tool

_BUILTIN: Final = {
    "run_terminal_cmd": "grokmini.tools.builtin.run_terminal_cmd:RunTerminalCmd",
    "read_file": "grokmini.tools.builtin.read_file:ReadFile",
    "search_replace": "grokmini.tools.builtin.search_replace:SearchReplace",
    "write": "grokmini.tools.builtin.write:Write",
    "list_dir": "grokmini.tools.builtin.list_dir:ListDir",
    "grep": "grokmini.tools.builtin.grep:Grep",
    "glob": "grokmini.tools.builtin.glob:GlobTool",
    "todo_write": "grokmini.tools.builtin.todo_write:TodoWrite",
}
_WIRE_NAMES: Final = {"run_terminal_command": "run_terminal_cmd"}


def build_tools(*, only: Sequence[str] = (), without: Sequence[str] = ()) -> list[Tool[Any]]:
    """The tools of a session, in the table's order.

    `only` (when given) and `without` hold ids or wire names. Raises `UsageError` for a name that is no tool.
    """
    chosen = {_id(name) for name in only} or set(_BUILTIN)
    chosen -= {_id(name) for name in without}
    tools = []
    for tool_id, where in _BUILTIN.items():
        if tool_id in chosen:
            module, _, name = where.partition(":")
            tools.append(getattr(import_module(module), name)())
    return tools


def _id(name: str) -> str:
    tool_id = _WIRE_NAMES.get(name, name)
    if tool_id not in _BUILTIN:
        near = nearest(name, [*_BUILTIN, *_WIRE_NAMES])
        known = f"Did you mean {' or '.join(near)}?" if near else f"There are: {', '.join(_BUILTIN)}."
        raise UsageError(f"There is no tool called {name!r}.", known)
    return tool_id
