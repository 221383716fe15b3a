"""What the owner of a conversation tells the world, all through one callback."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from grokmini.chat.repair import RepairReport


class TokensUpdated(NamedTuple):
    """The estimate of the next request is another one, otherwise than by items added; `window` is the model's."""

    tokens: int
    window: int


class ConversationReset(NamedTuple):
    """The history was cut or replaced by a snapshot's; `length` items are left. Views of it start anew."""

    length: int


class CompactionApplied(NamedTuple):
    """A shorter history took the place of the old one. Figures are estimates of the next request."""

    tokens_before: int
    tokens_after: int
    items_before: int
    items_after: int


class Repaired(NamedTuple):
    """The history was not valid and is now."""

    report: RepairReport

    @property
    def number(self) -> int:
        """How many items were touched."""
        return sum(self.report)

    @property
    def reasons(self) -> tuple[str, ...]:
        """What was done, in words."""
        return self.report.reasons


ChatEvent: TypeAlias = TokensUpdated | ConversationReset | CompactionApplied | Repaired
