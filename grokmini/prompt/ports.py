"""What the prompt needs from outside."""

from __future__ import annotations

from typing import Protocol

from grokmini.protocol.tools import ToolKind


class ToolNames(Protocol):
    """The names that the model can really call."""

    def of(self, kind: ToolKind) -> str:
        """The wire name of the tool of that kind; the kind's own name when there is none."""
