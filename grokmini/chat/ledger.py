"""What was spent: one ledger a prompt, one a session, each by kind of work and model. A figure is never invented.

A figure that is lost marks the bills for good. One that is only not in yet (a subagent still runs) marks the
report alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from grokmini.protocol.model import Usage

Work = Literal["main", "subagent", "title"]
"""Who made a call: the main loop, a subagent, or the search for a title, which belongs to no prompt."""

Rows: TypeAlias = dict[str, dict[str, Usage]]
"""Usage by kind of work and model."""


class UsageReport(NamedTuple):
    """Usage by model, of the current (or last) prompt and of the whole session, all kinds of work together.

    `rows` are the session's by kind of work; `outstanding` is how many figures are still to come.
    """

    prompt: dict[str, Usage]
    session: dict[str, Usage]
    rows: Mapping[str, Mapping[str, Usage]] = {}
    outstanding: int = 0

    @property
    def incomplete(self) -> bool:
        """Whether the session's bill lacks something, for good or for now."""
        return self.outstanding > 0 or any(usage.incomplete for usage in self.session.values())


class UsageLedger:
    """Two running bills."""

    def __init__(self, session: Mapping[str, Mapping[str, Usage]] = {}) -> None:
        """`session` is what earlier processes of the same session spent, by kind of work and model."""
        self._session: Rows = {work: dict(bill) for work, bill in session.items()}
        self._prompt: Rows = {}
        self._prompts = 0
        self._expected: dict[str, int] = {}

    def start_prompt(self) -> None:
        """A new prompt begins; its bill is empty."""
        self._prompt = {}
        self._prompts += 1

    def add(self, model: str, usage: Usage, work: Work = "main") -> None:
        """Enter what one call cost."""
        self._enter(model, usage, work, to_prompt=work != "title")

    def mark_incomplete(self, model: str, work: Work = "main") -> None:
        """A call was made whose figure is lost: the bills say so for good."""
        self.add(model, Usage(calls=1, incomplete=True), work)

    def expect(self, job: str) -> None:
        """A subagent works for this prompt; what it spends comes later."""
        self._expected[job] = self._prompts

    def arrive(self, job: str, usage: Mapping[str, Usage]) -> None:
        """What an expected job spent in all, by model. It is the session's, and its prompt's while that runs."""
        to_prompt = self._expected.pop(job, None) == self._prompts
        for model, spent in usage.items():
            self._enter(model, spent, "subagent", to_prompt=to_prompt)

    def report(self) -> UsageReport:
        """Both bills as they are now."""
        rows = {work: dict(bill) for work, bill in self._session.items()}
        return UsageReport(_merged(self._prompt), _merged(self._session), rows, len(self._expected))

    def _enter(self, model: str, usage: Usage, work: Work, *, to_prompt: bool) -> None:
        entry = usage if usage.calls else msgspec.structs.replace(usage, calls=1)
        for rows in (self._prompt, self._session) if to_prompt else (self._session,):
            bill = rows.setdefault(work, {})
            bill[model] = bill[model] + entry if model in bill else entry


def _merged(rows: Rows) -> dict[str, Usage]:
    merged: dict[str, Usage] = {}
    for bill in rows.values():
        for model, usage in bill.items():
            merged[model] = merged[model] + usage if model in merged else usage
    return merged
