"""The attack table as the end of a test run prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from tests.sandbox.attacks.table import COLUMNS, ROWS

SHOWN = (*COLUMNS, "off", "bare")
LEGEND = (
    "= stopped as promised, ! GOT THROUGH although promised, s stopped though not promised, o open and not promised,",
    "? promised and not run, . not run. off: no sandbox; bare: a child started without care. Bombs: only as a user.",
)


def print_table(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the attacks of this run came to, by user."""
    found: dict[str, dict[str, dict[str, bool]]] = {}
    for report in (*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())):
        for name, value in getattr(report, "user_properties", ()):
            if name == "attacks":
                found.setdefault(value["user"], {})[value["column"]] = value["results"]
    for user, columns in sorted(found.items()):
        terminalreporter.write_sep("-", f"attacks as {'root' if user == 'root' else 'an ordinary user'}")
        for line in (*table(columns), *LEGEND):
            terminalreporter.write_line(line)


def table(columns: Mapping[str, Mapping[str, bool]]) -> Iterable[str]:
    """One line an attack."""
    yield f"{'':<4}{'':<58}" + "".join(f"{column:>5}" for column in SHOWN)
    for row in ROWS:
        marks = (_mark(row.promise.get(column, ""), columns.get(column), row.attack) for column in SHOWN)
        yield f"{row.attack:<4}{row.title:<58}" + "".join(f"{mark:>5}" for mark in marks)


def _mark(promise: str, results: Mapping[str, bool] | None, attack: str) -> Any:
    if results is None or attack not in results:
        return "?" if promise == "+" and results is not None else "."
    if promise == "+":
        return "!" if results[attack] else "="
    return "o" if results[attack] else "s"
