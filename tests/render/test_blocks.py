"""The fold from events to blocks."""

from __future__ import annotations

from grokmini.protocol import events as ev
from grokmini.protocol.permission import PermissionAnswer, PermissionMode
from grokmini.protocol.tools import ToolKind
from grokmini.render.blocks import (
    Change,
    Changed,
    Closed,
    Fold,
    Grew,
    NoticeBlock,
    Opened,
    PromptBlock,
    TextBlock,
    ToolBlock,
)
from tests.render.events import ended, finished, ready


def folded(*events: ev.SessionEvent) -> list[Change]:
    fold = Fold()
    return [change for event in events for change in fold.apply(event)]


def opened(changes: list[Change]) -> list[str]:
    return [type(change.block).__name__ for change in changes if isinstance(change, Opened)]


def test_pieces_of_text_are_one_block_until_something_else_comes() -> None:
    changes = folded(
        ev.TextDelta("a"),
        ev.TextDelta("b"),
        ev.ReasoningDelta("c"),
        ev.TextDelta("d"),
        ready("1", ToolKind.READ),
    )
    assert opened(changes) == ["TextBlock", "ReasoningBlock", "TextBlock", "ToolBlock"]
    assert [change.text for change in changes if isinstance(change, Grew)] == ["a", "b", "c", "d"]


def test_ids_rise_and_every_block_is_closed_once_after_it_opened() -> None:
    changes = folded(
        ev.TurnStarted("p", 0, "x"),
        ev.TextDelta("a"),
        ready("1", ToolKind.READ),
        ready("2", ToolKind.READ),
        finished("2"),
        finished("1"),
        ev.Notice("info", "n"),
        ev.TextDelta("b"),
        ended(),
    )
    ids = [change.block.id for change in changes if isinstance(change, Opened)]
    assert ids == sorted(set(ids))
    assert sorted(change.block.id for change in changes if isinstance(change, Closed)) == ids


def test_what_still_runs_when_a_turn_ends_is_closed_as_interrupted() -> None:
    changes = folded(ready("1", ToolKind.READ), ev.ToolStarted("1"), ended())
    closed = [change.block for change in changes if isinstance(change, Closed)]
    assert isinstance(closed[0], ToolBlock)
    assert closed[0].state == "interrupted"
    assert type(closed[1]).__name__ == "TurnBlock"


def test_a_call_goes_through_its_states() -> None:
    asked = ev.PermissionAsked("r", "1", "Run this?", "x", ())
    answered = ev.PermissionAnswered("r", "1", PermissionAnswer("allow"))
    changes = folded(
        ready("1", ToolKind.EXECUTE), asked, answered, ev.ToolStarted("1"), ev.ToolProgress("1", "out")
    )
    states = [(change.block.state, change.block.progress) for change in changes if isinstance(change, Changed)]
    assert states == [("asking", ""), ("waiting", ""), ("running", ""), ("running", "out")]


def test_events_of_unknown_calls_and_empty_pieces_change_nothing() -> None:
    assert folded(ev.TextDelta(""), ev.ToolStarted("x"), ev.ToolProgress("x", "y"), finished("x")) == []


def test_a_retry_closes_the_text_and_says_that_it_was_cut_off() -> None:
    changes = folded(
        ev.TextDelta("half"), ev.RetryScheduled(2, 5, 12.0, "network", "connection lost.", discarded=True)
    )
    first = changes[2]
    assert isinstance(first, Closed)
    assert isinstance(first.block, TextBlock)
    notice = changes[3]
    assert isinstance(notice, Opened)
    assert isinstance(notice.block, NoticeBlock)
    assert notice.block.text == "reply cut off: connection lost: asking again in 12 s (2 of 5)"


def test_small_facts_are_one_line_notices_and_figures_in_between_are_silent() -> None:
    changes = folded(
        ev.ModeChanged(PermissionMode.ACCEPT_EDITS),
        ev.ModelChanged("m", 1),
        ev.DirectoryChanged("/x", "main"),
        ev.SandboxChanged("workspace", "workspace, in part", confined=True, cause="proved"),
        ev.SandboxChanged("strict", "strict", confined=True),
        ev.TitleChanged("A title", "generated"),
        ev.PromptQueued("p", "then do\nmore"),
        ev.PromptUnqueued("p", "started"),
        ev.PromptUnqueued("p", "removed"),
        ev.SessionEnded("quit", ("flush",)),
        ev.SessionEnded("quit"),
    )
    texts = [c.block.text for c in changes if isinstance(c, Opened) and isinstance(c.block, NoticeBlock)]
    assert texts == [
        "permission mode: accept-edits",
        "model: m",
        "folder: /x on main",
        "sandbox: strict",
        'queued: "then do…"',
        "no longer queued",
        "left undone: flush",
    ]


def test_a_remembered_answer_names_its_rule_and_scope() -> None:
    answer = PermissionAnswer("allow", "repository", "Bash(git status)")
    (_, closed) = folded(ev.PermissionAnswered("r", "1", answer))
    assert isinstance(closed, Closed)
    assert isinstance(closed.block, NoticeBlock)
    assert closed.block.text == "always allowed in this repository: Bash(git status)"


def test_what_is_noted_while_a_text_is_written_comes_behind_it() -> None:
    changes = folded(
        ev.TextDelta("one "),
        ev.PromptQueued("p", "then do this"),
        ev.ModeChanged(PermissionMode.PLAN),
        ev.TextDelta("two"),
        ready("1", ToolKind.READ),
    )
    assert opened(changes) == ["TextBlock", "NoticeBlock", "NoticeBlock", "ToolBlock"]


def test_words_sent_into_a_turn_are_shown_as_a_prompt() -> None:
    fold = Fold(tells_queue=False)
    assert fold.apply(ev.PromptQueued("p", "hurry up")) == []
    changes = fold.apply(ev.PromptUnqueued("p", "interjected"))
    blocks = [change.block for change in changes if isinstance(change, Opened)]
    assert blocks == [PromptBlock(blocks[0].id, None, "hurry up")]
