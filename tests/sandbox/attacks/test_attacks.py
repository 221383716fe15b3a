"""The attack table: what is promised is stopped, as root and as an ordinary user, with and without bubblewrap.

The table is printed at the end of the run.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grokmini.sandbox.probe import probe
from tests.sandbox.attacks.agent import DAEMONS
from tests.sandbox.attacks.stage import attack, users
from tests.sandbox.attacks.table import COLUMNS, ROWS, WHOLE, WITHOUT_LANDLOCK, refusals

Record = Callable[[str, object], None]

BOMB_PROCESSES = 40
NEVER = {"w12", "n20", "a12", "a13", *DAEMONS, "l07"}
"""Stopped without a sandbox too: how commands are started does it."""
NEEDS_ROOT = {"w35", "w36", "w37", "w38", "n10", "a09", "a11"}
ELSEWHERE = {"a02", "r19", "l01", "l02"}
"""Not tried without a sandbox: signals to everybody, bombs; and what is refused before anything is run."""


def test_the_machine_that_runs_the_tests_has_every_layer() -> None:
    found = probe()
    assert found.reasons == {}
    assert found.landlock_abi >= 6 and found.seccomp and found.bwrap and found.bwrap_network


@pytest.mark.parametrize("user", users())
@pytest.mark.parametrize("column", COLUMNS)
def test_every_attack_that_must_be_stopped_is(user: str, column: str, record_property: Record) -> None:
    report = attack(user, column, BOMB_PROCESSES if user == "user" else 0)
    results, ends = report["results"], report["ends"]
    record_property("attacks", {"user": user, "column": column, "results": results})
    promised = [row.attack for row in ROWS if row.promise.get(column, ".") == "+"]
    assert [row for row in promised if results.get(row)] == []
    failed = {row: ends[row] for row in promised if row in ends and ends[row] not in refusals(row, column)}
    assert failed == {}, "not the sandbox stopped it"
    not_run = {row for row in promised if row not in results}
    assert not_run <= (set() if user == "user" else {"l01", "l02"})
    assert_losses_are_told(column, report["lost"])
    if column in WHOLE:
        assert [text for text in report["lost"] if user == "user" or "number of processes" not in text] == []


def assert_losses_are_told(column: str, lost: list[str]) -> None:
    """Each `x` of a column is named by the notice."""
    text = "; ".join(lost)
    names = {"w15": "chmod", "w16": "chown", "w17": "utime", "w18": "setxattr", "w29": ".git/hooks"}
    names |= {"w30": ".git/config", "w31": ".git", "w33": ".grokmini", "n13": "abstract sockets"}
    for row in ROWS:
        if row.promise.get(column) == "x":
            assert names[row.attack] in text, f"{row.attack} is lost in {column} and not told"
    assert lost or column not in WITHOUT_LANDLOCK or column in ("ROb", "Sb")


@pytest.mark.parametrize("user", users())
def test_without_a_sandbox_the_attacks_work(user: str, record_property: Record) -> None:
    report = attack(user, "off")
    results = report["results"]
    record_property("attacks", {"user": user, "column": "off", "results": results})
    cannot = NEVER | ELSEWHERE | (NEEDS_ROOT if user == "user" else set())
    cannot |= {row for row in ("n18", "n19") if report["ends"][row] == "ENOSYS"}  # the kernel has no such gate
    assert {row.attack for row in ROWS if not results.get(row.attack)} - cannot == set()
    assert {row for row in NEVER if results[row]} == set()


@pytest.mark.parametrize("user", users())
def test_what_is_never_possible_is_possible_for_a_child_started_without_care(
    user: str, record_property: Record
) -> None:
    results = attack(user, "bare")["results"]
    record_property("attacks", {"user": user, "column": "bare", "results": results})
    assert {row for row in NEVER if not results[row]} == set()
