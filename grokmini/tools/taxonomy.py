"""Kinds of tools and the labels people see (reference/tools.md part 2)."""

from __future__ import annotations

from typing import Final

from grokmini.protocol.tools import ToolKind

_LABELS: Final = {
    ToolKind.READ: "Read",
    ToolKind.EDIT: "Edit",
    ToolKind.DELETE: "Delete",
    ToolKind.LIST_DIR: "List Files",
    ToolKind.LIST: "List Files",
    ToolKind.WRITE: "Write",
    ToolKind.MOVE: "Move",
    ToolKind.SEARCH: "Search",
    ToolKind.LSP: "Code Intelligence",
    ToolKind.EXECUTE: "Run Command",
    ToolKind.PLAN: "Plan",
    ToolKind.WEB_SEARCH: "Web Search",
    ToolKind.WEB_FETCH: "Web Fetch",
    ToolKind.BACKGROUND_TASK: "Background Task",
    ToolKind.WAIT_TASKS: "Wait for Tasks",
    ToolKind.KILL_TASK: "Kill Task",
    ToolKind.MEMORY_SEARCH: "Memory Search",
    ToolKind.MEMORY_GET: "Memory Read",
    ToolKind.TASK: "Subagent",
    ToolKind.ENTER_PLAN: "Enter Plan Mode",
    ToolKind.EXIT_PLAN: "Exit Plan Mode",
    ToolKind.ASK_USER: "Ask User",
    ToolKind.SEARCH_TOOL: "Search Tools",
    ToolKind.USE_TOOL: "Use Tool",
    ToolKind.MONITOR: "Monitor",
    ToolKind.GOAL_UPDATE: "Update Goal",
    ToolKind.SKILL: "Skill",
    ToolKind.OTHER: "Tool",
}


def presentation_name(kind: ToolKind) -> str:
    """The label that equal tools of all dialects share. A kind without one fails a test."""
    return _LABELS[kind]
