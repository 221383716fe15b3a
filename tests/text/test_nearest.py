"""Names that a mistyped one may have meant."""

from __future__ import annotations

from grokmini.text.nearest import nearest


def test_a_slip_finds_its_word() -> None:
    known = ["read_file", "search_replace", "grep", "glob"]
    assert nearest("read_fiel", known) == ["read_file"]
    assert nearest("gerp", known, 1) == ["grep"]
    assert nearest("READ-FILE", known, 1) == ["read_file"]


def test_the_closest_comes_first() -> None:
    assert nearest("timeout", ["timeouts", "time", "max_timeout", "timeout_secs"])[0] == "timeouts"


def test_a_beginning_counts_as_close() -> None:
    assert nearest("timeout", ["timeout_secs", "output_limit"]) == ["timeout_secs"]


def test_nothing_close_is_nothing() -> None:
    assert nearest("zebra", ["grep", "read_file"]) == []
    assert nearest("", ["a"]) == []
