"""A permission mode is told with the prompt that it counts for."""

from __future__ import annotations

from grokmini.protocol.events import ModeChanged, SessionStarted, TextDelta, TurnStarted
from grokmini.protocol.permission import PermissionMode
from grokmini.repl.mode_notice import ModeNotice

STARTED = SessionStarted("0", "/", "m", PermissionMode.ASK, "none")
PLAN, ASK = ModeChanged(PermissionMode.PLAN), ModeChanged(PermissionMode.ASK)
TURN, TEXT = TurnStarted("p", 0, "go"), TextDelta("hi")


def test_only_the_last_of_many_changes_is_told_and_once() -> None:
    notice = ModeNotice()
    assert notice.due(STARTED) == (STARTED,)
    assert [notice.due(event) for event in (ASK, PLAN, ASK, PLAN)] == [()] * 4
    assert notice.due(TURN) == (PLAN, TURN)
    assert notice.due(TEXT) == (TEXT,)
    assert notice.due(TURN) == (TURN,)


def test_a_mode_that_came_back_is_not_told() -> None:
    notice = ModeNotice()
    for event in (STARTED, PLAN, ASK):
        notice.due(event)
    assert notice.due(TURN) == (TURN,)
