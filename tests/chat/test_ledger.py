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
