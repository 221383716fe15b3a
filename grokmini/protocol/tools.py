"""How tools look from outside: specs for the model, kinds and labels for people, the result's display."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool as it is offered to a model. `parameters` is a JSON schema, already encoded."""

    name: str
    description: str
    parameters: msgspec.Raw


class ToolKind(StrEnum):
    """What a tool does, whatever dialect names it. Unknown kinds read as `OTHER`."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    LIST_DIR = "list_dir"
    LIST = "list"
    WRITE = "write"
    MOVE = "move"
    SEARCH = "search"
    LSP = "lsp"
    EXECUTE = "execute"
    PLAN = "plan"
    WEB_SEARCH = "web_search"
    WEB_FETCH = "web_fetch"
    BACKGROUND_TASK = "background_task_action"
    WAIT_TASKS = "wait_tasks_action"
    KILL_TASK = "kill_task_action"
    MEMORY_SEARCH = "memory_search"
    MEMORY_GET = "memory_get"
    TASK = "task"
    ENTER_PLAN = "enter_plan"
    EXIT_PLAN = "exit_plan"
    ASK_USER = "ask_user"
    SEARCH_TOOL = "search_tool"
    USE_TOOL = "use_tool"
    MONITOR = "monitor"
    GOAL_UPDATE = "goal_update"
    SKILL = "skill"
    OTHER = "other"

    @classmethod
    def _missing_(cls, value: object) -> ToolKind:
        return cls.OTHER


class ToolNamespace(StrEnum):
    """Which family of tools a tool belongs to. Closed."""

    GROK_BUILD = "grok_build"
    GROK_BUILD_CONCISE = "grok_build_concise"
    GROK_BUILD_HASHLINE = "grok_build_hashline"
    CODEX = "codex"
    OPENCODE = "opencode"
    MCP = "mcp"


class ToolEnvelope(msgspec.Struct, frozen=True):
    """The `x.ai/tool` envelope that every call carries; `tools/tool_envelope.schema.json` describes it to others.

    `input` is the small projection that all dialects share; contents of files are never in it.
    """

    name: str
    kind: ToolKind
    namespace: ToolNamespace
    label: str
    read_only: bool
    version: int = 1
    input: dict[str, str | int] = {}


class DiffDisplay(msgspec.Struct, frozen=True, tag="diff"):
    """A file change to show: a unified diff body and its counts."""

    path: str
    diff: str
    added: int
    removed: int


class CommandDisplay(msgspec.Struct, frozen=True, tag="command", omit_defaults=True):
    """How a command ended. `exit_code` is None when it was killed; `reason` then says why. `outside`: it ran outside of
    the sandbox, as the person allowed. `left_over` counts processes that it left running and that were stopped, `lines`
    those of its output where the text kept of it is shorter.
    """

    command: str
    exit_code: int | None
    reason: str = ""
    outside: bool = False
    left_over: int = 0
    lines: int = 0


class SummaryDisplay(msgspec.Struct, frozen=True, tag="summary"):
    """A few words that say what came out (`12 lines`, `3 files`)."""

    text: str


Display: TypeAlias = DiffDisplay | CommandDisplay | SummaryDisplay

TodoStatus = Literal["pending", "in_progress", "completed", "cancelled"]


class TodoEntry(msgspec.Struct, frozen=True):
    """One line of the agent's todo list."""

    id: str
    content: str
    status: TodoStatus
