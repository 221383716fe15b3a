"""The developer table: what must work works, what is refused by choice is refused; printed at the end of the run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grokmini.sandbox.probe import probe
from tests.sandbox.attacks.stage import report, users
from tests.sandbox.developer.printed import PROPERTY
from tests.sandbox.developer.table import COLUMNS, ROWS

OFF = "off"
NEVER = {"/dev/tty"}
"""Refused without a sandbox too: a command has no terminal."""
NEEDS_ROOT = {"sudo"}
NEEDS_NAMESPACES = {"unshare -Ur"}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every column as an ordinary user, two more as root where we are root; with `--full` all of them as both."""
    columns = (*COLUMNS, OFF)
    chosen = [(user, column) for user in users() for column in columns]
    if len(users()) > 1 and not metafunc.config.getoption("--full"):
        chosen = [(user, column) for user, column in chosen if (user == "user") is (column in COLUMNS)]
        chosen.append(("root", COLUMNS[0]))
    metafunc.parametrize(("user", "column"), chosen)


def outcomes(user: str, column: str) -> dict[str, tuple[int | None, str]]:
    """How every command of the table ended as that user: its exit code and what it printed."""
    return report(user, "tests.sandbox.developer.agent", column)


def test_everyday_commands_work_but_for_what_is_refused_by_choice(
    user: str, column: str, record_property: Callable[[str, object], None]
) -> None:
    found = outcomes(user, column)
    works = {title: code == 0 for title, (code, _) in found.items()}
    record_property(PROPERTY, {"user": user, "column": column, "works": works})
    real = column if probe().bwrap else column.lower()
    if real == OFF:
        refused = (
            NEVER
            | (NEEDS_ROOT if user != "root" else set())
            | (NEEDS_NAMESPACES if not probe().bwrap else set())
        )
        expected = {row.title: row.title not in refused for row in ROWS}
    else:
        expected = {row.title: row.expected[real] == "+" for row in ROWS}
    wrong = {title: found[title] for title, right in expected.items() if works[title] != right}
    assert wrong == {}
