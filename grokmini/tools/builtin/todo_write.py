"""todo_write: the agent's own list of what is to be done."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import ClassVar

import msgspec

from grokmini.protocol.errors import ToolError, ToolErrorKind
from grokmini.protocol.items import AssistantItem, ConversationItem, ToolResultItem
from grokmini.protocol.tools import SummaryDisplay, TodoEntry, TodoStatus, ToolKind
from grokmini.tools.arguments import decode_arguments
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

    def restore(self, entries: Sequence[TodoEntry]) -> None:
        """Take up the list of a session that is resumed; nobody is told, for nothing changed."""
        self._entries = tuple(entries)

    def replace(self, entries: Sequence[TodoEntry]) -> None:
        """Make the list this one."""
        if tuple(entries) != self._entries:
            self._entries = tuple(entries)
            self._on_change(self._entries)


MAX_CHARACTERS = 10_000
"""Of the whole list as the model reads it: it comes back with every change."""


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
        """Change the list. Raises `ToolError` for an id given twice, and for a new one without content."""
        store = ctx.resources.get(TodoStore)
        entries = merged(store.entries, args)
        text = "\n".join(f"- [{entry.status}] {entry.id}: {entry.content}" for entry in entries)
        if len(text) > MAX_CHARACTERS:
            advice = f"{MAX_CHARACTERS:,} are the most; give fewer or shorter entries."
            raise _refused(f"The list would have {len(text):,} characters", advice)
        store.replace(entries)
        done = sum(entry.status == "completed" for entry in store.entries)
        return ToolOutput(
            text or "The list is empty.", display=SummaryDisplay(f"{done} of {len(store.entries)} done")
        )


def merged(entries: Sequence[TodoEntry], args: TodoArgs) -> tuple[TodoEntry, ...]:
    """The list after a call. Raises `ToolError` (invalid arguments).

    A replacement whose entries all name known ids without content is meant as a change of states, so it is
    merged.
    """
    known = {entry.id: entry for entry in entries}
    given = Counter(item.id for item in args.todos)
    if twice := next((one for one, count in given.items() if count > 1), None):
        raise _refused(f"The id `{twice}` is given twice", "Give every entry an id of its own.")
    if new := next((item.id for item in args.todos if item.id not in known and not item.content), None):
        there = f"The ids in it are: {', '.join(known)}." if known else "It is empty."
        raise _refused(f"The id `{new}` is not in the list, so it needs `content`", there)
    only_states = bool(entries) and all(item.id in known and item.content is None for item in args.todos)
    result = dict(known) if args.merge or (only_states and args.todos) else {}
    for item in args.todos:
        old = known.get(item.id)
        result[item.id] = TodoEntry(
            id=item.id,
            content=item.content or (old.content if old else ""),
            status=item.status or (old.status if old else "pending"),
        )
    return tuple(result.values())


def todos_from(items: Iterable[ConversationItem]) -> tuple[TodoEntry, ...]:
    """The list that the calls in a history left; those that did not end well changed nothing."""
    calls: dict[str, str] = {}
    entries: tuple[TodoEntry, ...] = ()
    for item in items:
        if isinstance(item, AssistantItem):
            calls |= {call.id: call.arguments for call in item.tool_calls if call.name == TodoWrite.wire_name}
        elif isinstance(item, ToolResultItem) and item.status == "ok" and item.call_id in calls:
            with suppress(ToolError):
                entries = merged(entries, decode_arguments(calls[item.call_id], TodoArgs).args)
    return entries


def _refused(problem: str, advice: str) -> ToolError:
    return ToolError(ToolErrorKind.INVALID_ARGUMENTS, f"{problem}; the list was left as it is. {advice}")
