"""A call of a reply on its way from the model's words to its result."""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec

from grokmini.protocol.items import ToolCall
from grokmini.session.call_runner import CallResult
from grokmini.tools.contract import Tool, ToolCallContext


class Fuse(Enum):
    """Why the later calls of a reply were not run."""

    NONE = "none"
    DENIED = "denied"
    REASON = "reason"
    INTERJECTION = "interjection"


class PlannedCall:
    """A call on its way: decoded, perhaps already answered, else ready to run.

    `edits` says that it writes files itself; `kept` is the result of a run that has ended, while a person is asked
    whether there shall be another one.
    """

    def __init__(self, call: ToolCall, ctx: ToolCallContext) -> None:
        self.call = call
        self.ctx = ctx
        self.tool: Tool[Any] | None = None
        self.args: msgspec.Struct | None = None
        self.edits = False
        self.notes: tuple[str, ...] = ()
        self.kept: CallResult | None = None
        self.result: CallResult | None = None

    def goes_with(self, other: PlannedCall) -> bool:
        """Whether both may run at the same time."""
        assert self.tool is not None and other.tool is not None
        return self.edits == other.edits and not (self.tool.exclusive or other.tool.exclusive)
