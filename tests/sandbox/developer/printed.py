"""The developer table as the end of a test run prints it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from tests.sandbox.developer.table import COLUMNS, ROWS

PROPERTY = "developer"
LEGEND = "+ works, x refused by choice, ! WORKS although to be refused, ? FAILS although to work, . not run"


def print_table(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what the commands of this run came to, by user."""
    found: dict[str, dict[str, dict[str, bool]]] = {}
    for report in (*terminalreporter.stats.get("passed", ()), *terminalreporter.stats.get("failed", ())):
        for name, value in getattr(report, "user_properties", ()):
            if name == PROPERTY:
                found.setdefault(value["user"], {})[value["column"]] = value["works"]
    for user, columns in sorted(found.items()):
        title = f"everyday commands as {'root' if user == 'root' else 'an ordinary user'}"
        terminalreporter.write_sep("-", title)
        for line in (*table(columns), LEGEND):
            terminalreporter.write_line(line)


def table(columns: Mapping[str, Mapping[str, bool]]) -> Iterable[str]:
    """One line a command."""
    yield f"{'':<36}" + "".join(f"{column:>5}" for column in COLUMNS)
    for row in ROWS:
        marks = (_mark(row.expected[column], columns.get(column, {}).get(row.title)) for column in COLUMNS)
        yield f"{row.title:<36}" + "".join(f"{mark:>5}" for mark in marks)


def _mark(expected: str, works: bool | None) -> str:
    if works is None:
        return "."
    if expected == "+":
        return "+" if works else "?"
    return "!" if works else "x"
