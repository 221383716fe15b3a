"""Bills by model."""

from __future__ import annotations

from grokmini.chat.ledger import UsageLedger
from grokmini.protocol.model import Usage


def test_a_prompt_has_a_bill_of_its_own_and_the_session_has_all() -> None:
    ledger = UsageLedger()
    ledger.start_prompt()
    ledger.add("a", Usage(calls=1, input=10, output=1))
    ledger.add("a", Usage(calls=1, input=20, output=2))
    ledger.start_prompt()
    ledger.add("b", Usage(calls=1, input=5, output=1))
    report = ledger.report()
    assert report.prompt == {"b": Usage(calls=1, input=5, output=1)}
    assert report.session["a"] == Usage(calls=2, input=30, output=3)


def test_a_lost_figure_marks_both_bills_for_good_and_counts_the_call() -> None:
    ledger = UsageLedger()
    ledger.mark_incomplete("a")
    ledger.add("a", Usage(calls=1, input=10))
    report = ledger.report()
    assert report.prompt["a"] == report.session["a"] == Usage(calls=2, input=10, incomplete=True)


def test_a_resumed_session_goes_on_with_its_bill() -> None:
    ledger = UsageLedger({"main": {"a": Usage(calls=3, input=7)}})
    ledger.add("a", Usage(input=1))
    report = ledger.report()
    assert report.prompt["a"] == Usage(calls=1, input=1)
    assert report.session["a"] == Usage(calls=4, input=8)


def test_a_report_is_no_window_on_the_ledger() -> None:
    ledger = UsageLedger()
    report = ledger.report()
    ledger.add("a", Usage(calls=1))
    assert report.session == {}


def test_kinds_of_work_are_separate_rows_merged_for_the_bill() -> None:
    ledger = UsageLedger(
        {"main": {"a": Usage(calls=1, input=1)}, "compaction": {"a": Usage(calls=1, input=50)}}
    )
    ledger.start_prompt()
    ledger.add("a", Usage(calls=1, input=10))
    ledger.add("a", Usage(calls=1, input=7), "subagent")
    report = ledger.report()
    assert {work: bill["a"].input for work, bill in report.rows.items()} == {
        "main": 11,
        "compaction": 50,
        "subagent": 7,
    }
    assert report.session["a"].input == 68
    assert report.prompt["a"] == Usage(calls=2, input=17)


def test_a_title_belongs_to_the_session_and_to_no_prompt() -> None:
    ledger = UsageLedger()
    ledger.start_prompt()
    ledger.add("a", Usage(calls=1, input=10), "title")
    ledger.mark_incomplete("a", "title")
    report = ledger.report()
    assert report.prompt == {}
    assert report.session["a"] == Usage(calls=2, input=10, incomplete=True)


def test_what_is_not_in_yet_marks_the_report_and_leaves_the_bills_whole() -> None:
    ledger = UsageLedger()
    ledger.start_prompt()
    ledger.expect("job")
    report = ledger.report()
    assert report.incomplete
    assert report.session == {}
    ledger.start_prompt()
    ledger.arrive("job", {"a": Usage(calls=2, input=5)})
    report = ledger.report()
    assert not report.incomplete
    assert report.prompt == {}  # the prompt that it worked for is over
    assert report.session == {"a": Usage(calls=2, input=5)}


def test_a_cost_that_was_reported_for_some_calls_only_is_no_cost() -> None:
    ledger = UsageLedger()
    ledger.add("a", Usage(calls=1, input=1, cost_usd=0.25))
    assert ledger.report().session["a"].cost_usd == 0.25
    ledger.add("a", Usage(calls=1, input=1, cost_usd=0.5))
    assert ledger.report().session["a"].cost_usd == 0.75
    ledger.add("a", Usage(calls=1, input=1))
    assert ledger.report().session["a"].cost_usd is None
    assert (Usage() + Usage(calls=1, cost_usd=0.5)).cost_usd == 0.5
