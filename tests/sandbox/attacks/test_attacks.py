"""The attack table: what is promised is stopped, as root and as an ordinary user, with and without bubblewrap."""

from __future__ import annotations

import pytest

from grokmini.sandbox.probe import probe
from tests.sandbox.attacks.stage import attack, users
from tests.sandbox.attacks.table import COLUMNS, ROWS

WORKS_WITHOUT = {
    "w01",
    "w02",
    "w03",
    "w08",
    "w13",
    "w15",
    "w17",
    "w22",
    "w29",
    "w30",
    "w33",
    "r20",
    "r21",
    "a01",
    "a03",
}
"""Attacks that work on every machine when there is no sandbox."""


@pytest.mark.parametrize("user", users())
@pytest.mark.parametrize("column", COLUMNS)
def test_every_attack_that_must_be_stopped_is(user: str, column: str) -> None:
    report = attack(user, column)
    results = report["results"]
    for row in ROWS:
        mark = "not run" if row.attack not in results else "got through" if results[row.attack] else "stopped"
        print(f"{row.attack} {row.title:<60} {column} promised {row.promise[column]} {mark}")
    real = column if probe().bwrap else column.lower()
    promised = [row.attack for row in ROWS if row.promise.get(real, ".") == "+"]
    assert [row for row in promised if results.get(row)] == []
    if real.islower():
        assert any("chmod" in text for text in report["lost"])


@pytest.mark.parametrize("user", users())
def test_without_a_sandbox_the_attacks_work(user: str) -> None:
    results = attack(user, "off")["results"]
    assert {row for row in WORKS_WITHOUT if not results[row]} == set()
