"""todo_write: the agent's own list of what is to be done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.tools import SummaryDisplay, TodoEntry, TodoStatus, ToolKind
from grokmini.tools.contract import Subject, Tool, ToolCallContext, ToolOutput


class TodoStore:
    """The list. `on_change` hears of every change."""

    def __init__(self, on_change: Callable[[tuple[TodoEntry, ...]], None]) -> None:
        self._on_change = on_change
        self._entries: tuple[TodoEntry, ...] = ()

    @property
    def entries(self) -> tuple[TodoEntry, ...]:
        """The list as it is."""
        return self._entries

    def replace(self, entries: Sequence[TodoEntry]) -> None:
        """Make the list this one."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self._on_change(self._entries)


class TodoItem(msgspec.Struct, frozen=True):
    """One entry as the model gives it; what is left out stays as it was."""

    id: str
    content: str | None = None
    status: TodoStatus | None = None


class TodoArgs(msgspec.Struct, frozen=True):
    """Arguments of todo_write."""

    todos: tuple[TodoItem, ...]
    merge: bool = True


class TodoWrite(Tool[TodoArgs]):
    """Changes the session's `TodoStore`."""

    id: ClassVar[str] = "todo_write"
    wire_name: ClassVar[str] = "todo_write"
    kind: ClassVar[ToolKind] = ToolKind.PLAN
    read_only: ClassVar[bool] = True
    args_type: ClassVar[type[msgspec.Struct]] = TodoArgs

    def subject(self, args: TodoArgs, ctx: ToolCallContext) -> Subject:
        """The list; nothing outside the session is touched."""
        return Subject("TodoWrite", "", "Change the todo list?")

    async def run(self, args: TodoArgs, ctx: ToolCallContext) -> ToolOutput:
        """Change the list. Raises `ToolError` for an id given twice."""
        store = ctx.resources.get(TodoStore)
        ids = [item.id for item in args.todos]
        if twice := next((one for one in ids if ids.count(one) > 1), None):
            raise ToolError(
                ToolErrorKind.INVALID_ARGUMENTS,
                f"The id `{twice}` is given twice; the list was left as it is. Give every entry an id of its own.",
            )
        store.replace(merged(store.entries, args))
        text = "\n".join(f"- [{entry.status}] {entry.id}: {entry.content}" for entry in store.entries)
        done = sum(entry.status == "completed" for entry in store.entries)
        return ToolOutput(
            text or "The list is empty.", display=SummaryDisplay(f"{done} of {len(store.entries)} done")
        )


def merged(entries: Sequence[TodoEntry], args: TodoArgs) -> tuple[TodoEntry, ...]:
    """The list after a call.

    A replacement whose entries all name known ids without content is meant as a change of states, so it is
    merged.
    """
    known = {entry.id: entry for entry in entries}
    only_states = bool(entries) and all(item.id in known and item.content is None for item in args.todos)
    result = dict(known) if args.merge or (only_states and args.todos) else {}
    for item in args.todos:
        old = known.get(item.id)
        result[item.id] = TodoEntry(
            id=item.id,
            content=item.content or (old.content if old else item.id),
            status=item.status or (old.status if old else "pending"),
        )
    return tuple(result.values())
