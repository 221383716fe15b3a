"""What was spent: one ledger a prompt, one a session, each by model. A figure is never invented."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from grokmini.protocol.model import Usage


class UsageReport(NamedTuple):
    """Usage by model, of the current (or last) prompt and of the whole session."""

    prompt: dict[str, Usage]
    session: dict[str, Usage]


class UsageLedger:
    """Two running bills."""

    def __init__(self, session: Mapping[str, Usage]) -> None:
        """`session` is what an earlier process of the same session spent."""
        self._session = dict(session)
        self._prompt: dict[str, Usage] = {}

    def start_prompt(self) -> None:
        """A new prompt begins; its bill is empty."""
        self._prompt = {}

    def add(self, model: str, usage: Usage) -> None:
        """Enter what one call cost."""
        entry = usage if usage.calls else msgspec.structs.replace(usage, calls=1)
        for bill in (self._prompt, self._session):
            bill[model] = bill[model] + entry if model in bill else entry

    def mark_incomplete(self, model: str) -> None:
        """A call was made whose figure is lost: both bills say so for good."""
        self.add(model, Usage(calls=1, incomplete=True))

    def report(self) -> UsageReport:
        """Both bills as they are now."""
        return UsageReport(dict(self._prompt), dict(self._session))
