"""Loops and honest waiting."""

from __future__ import annotations

from grokmini.session.loop_guard import LoopGuard, LoopVerdict


def test_the_third_identical_call_is_noted_and_the_fifth_stops() -> None:
    guard = LoopGuard()
    verdicts = [guard.record("read_file", '{"p": 1}', "same") for _ in range(5)]
    assert verdicts == [
        LoopVerdict.NONE,
        LoopVerdict.NONE,
        LoopVerdict.NOTE,
        LoopVerdict.NONE,
        LoopVerdict.STOP,
    ]


def test_changing_results_never_count() -> None:
    guard = LoopGuard()
    assert {guard.record("poll", "{}", str(n)) for n in range(50)} == {LoopVerdict.NONE}


def test_other_arguments_are_another_call() -> None:
    guard = LoopGuard()
    assert {guard.record("read_file", str(n), "same") for n in range(50)} == {LoopVerdict.NONE}


def test_a_person_who_says_go_on_starts_the_count_anew() -> None:
    guard = LoopGuard()
    for _ in range(5):
        guard.record("a", "b", "c")
    guard.forgive()
    assert guard.record("a", "b", "c") is LoopVerdict.NONE
