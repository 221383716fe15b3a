"""Short makers of events for the tests of views."""

from __future__ import annotations

from typing import Any

from grokmini.protocol.events import SessionEvent, ToolCallReady, ToolFinished, ToolStarted, TurnEnded
from grokmini.protocol.items import ToolStatus
from grokmini.protocol.model import Usage
from grokmini.protocol.tools import CommandDisplay, Display, ToolEnvelope, ToolKind, ToolNamespace

LABELS = {
    ToolKind.EXECUTE: "Run Command",
    ToolKind.READ: "Read",
    ToolKind.EDIT: "Edit",
    ToolKind.SEARCH: "Search",
}


def ready(
    call_id: str, kind: ToolKind, arguments: str = "{}", name: str = "tool", **given: str | int
) -> ToolCallReady:
    """A call that arrived."""
    label = LABELS.get(kind, "Tool")
    return ToolCallReady(
        call_id, ToolEnvelope(name, kind, ToolNamespace.GROK_BUILD, label, True, input=given), arguments
    )


def finished(call_id: str, output: str = "", display: Display | None = None, **more: Any) -> ToolFinished:
    """A call that ended well unless `status` says otherwise."""
    status: ToolStatus = more.pop("status", "ok")
    return ToolFinished(call_id, status, output, more.pop("seconds", 0.1), display, **more)


def run(
    call_id: str, command: str, output: str, exit_code: int | None = 0, seconds: float = 0.8
) -> list[SessionEvent]:
    """A whole command."""
    return [
        ready(call_id, ToolKind.EXECUTE, command=command),
        ToolStarted(call_id),
        finished(call_id, output, CommandDisplay(command, exit_code), seconds=seconds),
    ]


def ended(**more: Any) -> TurnEnded:
    """A turn that ended well unless told otherwise."""
    given: dict[str, Any] = {"outcome": "completed", "exit_code": 0, "text": "", "usage": Usage()}
    return TurnEnded(0, **{**given, **more})
