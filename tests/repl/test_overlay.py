"""The permission question among the live rows."""

from __future__ import annotations

import pytest

from grokmini.protocol.events import PermissionAsked
from grokmini.protocol.permission import PermissionAnswer
from grokmini.render.lines import plain
from grokmini.render.look import Look
from grokmini.repl.overlay import Overlay
from grokmini.repl.question import GUARD
from grokmini.text.diff import unified_diff
from tests.repl.scripted_session import OPTIONS

ASKED = PermissionAsked("q1", "c1", "Run this?", "rm -rf build", OPTIONS, ("in ~/shop",))
LONG = PermissionAsked("q1", "c1", "Run this?", "\n".join(f"step {number}" for number in range(50)), OPTIONS)


def rows(overlay: Overlay, width: int = 80, room: int = 21, waiting: int = 0) -> list[str]:
    return [plain(line) for line in overlay.view(width, room, Look(), waiting)]


def test_a_question_shows_what_will_be_done_and_every_answer() -> None:
    assert rows(Overlay(ASKED, 0, 0)) == [
        "Run this?",
        "  rm -rf build",
        "  in ~/shop",
        "  1 yes",
        "  2 always `rm -rf build` (Bash(rm -rf build))",
        "  3 no",
        "  4 no, because…",
    ]


def test_it_says_how_many_wait_behind_it() -> None:
    assert rows(Overlay(ASKED, 0, 0), waiting=2)[-1] == "  2 more to answer"


def test_a_long_question_scrolls_above_its_answers_to_its_last_row() -> None:
    overlay = Overlay(LONG, 0, 0)
    rows(overlay, room=12)
    overlay.scroll(overlay.page)
    first = rows(overlay, room=12)
    assert len(first) == 12 and first[0] == "Run this?"
    assert first[7] == "  rows 1-7 of 51 · PgUp PgDn scroll"
    assert [row[2] for row in first[8:]] == ["1", "2", "3", "4"]
    overlay.scroll(overlay.page)
    assert rows(overlay, room=12)[0] == "  step 6"
    overlay.scroll(1000)
    assert rows(overlay, room=12)[6] == "  step 49"
    overlay.scroll(-1000)
    assert rows(overlay, room=12) == first


def test_a_long_diff_names_the_key_that_shows_it_whole() -> None:
    diff = unified_diff("", "".join(f"line {number}\n" for number in range(50)), "f")
    overlay = Overlay(PermissionAsked("q1", "c1", "Write f?", "f", OPTIONS, (), diff), 0, 0)
    assert "  rows 1-7 of 51 · PgUp PgDn scroll · d whole diff" in rows(overlay, room=12)
    assert any(row.endswith(" of 51 · PgUp PgDn scroll") for row in rows(overlay, width=40, room=12))


def test_of_a_long_command_the_middle_is_folded_and_its_end_and_the_details_are_seen_at_once() -> None:
    asked = PermissionAsked("q1", "c1", "Run it?", LONG.subject, OPTIONS, ("stopped: /x", "in ~/shop"))
    overlay = Overlay(asked, 0, 0)
    first = rows(overlay, room=14)
    assert first[:4] == ["Run it?", "  step 0", "  step 1", "  step 2"]
    assert first[4] == "  … 44 rows more here · PgDn shows all"
    assert first[5:10] == ["  step 47", "  step 48", "  step 49", "  stopped: /x", "  in ~/shop"]
    assert [row[2] for row in first[10:]] == ["1", "2", "3", "4"]
    overlay.scroll(1)
    assert rows(overlay, room=14)[:3] == ["Run it?", "  step 0", "  step 1"]
    overlay.scroll(3)
    assert rows(overlay, room=14)[0] == "  step 2"
    overlay.scroll(-100)
    assert rows(overlay, room=14)[0] == "Run it?"


@pytest.mark.parametrize("room", [8, 9, 10])
def test_at_forty_by_ten_the_end_of_the_command_and_what_was_stopped_are_seen_at_once(room: int) -> None:
    asked = PermissionAsked(
        "q1",
        "c1",
        "Run it outside of the sandbox?",
        LONG.subject,
        OPTIONS,
        ("stopped: /x: not to be written",) * 5,
    )
    shown = rows(Overlay(asked, 0, 0), width=40, room=room)
    assert shown[:5] == [
        "Run it outside of the sandbox?",
        "  step 0",
        "  … 48 rows more here · PgDn shows all",
        "  step 49",
        "  stopped: /x: not to be written",
    ]


def test_a_long_question_without_a_command_scrolls_from_the_first_key_on() -> None:
    asked = PermissionAsked("q1", "c1", "Run this?", "", OPTIONS, tuple(map(str, range(40))))
    overlay = Overlay(asked, 0, 0)
    rows(overlay, room=12)
    overlay.scroll(1)
    assert rows(overlay, room=12)[0] == "  0"


@pytest.mark.parametrize("width", [1, 2, 10, 20, 40])
@pytest.mark.parametrize("room", [1, 2, 3, 7])
def test_with_little_room_what_will_be_done_is_seen_first_and_all_can_be_reached(width: int, room: int) -> None:
    overlay = Overlay(PermissionAsked("q1", "c1", "Run this?", "first\nsecond\nthird\nlast", OPTIONS), 0, 0)
    seen: list[str] = []
    for _ in range(30):
        shown = overlay.view(width, room, Look(), 0)
        assert len(shown) <= room and all(line.width <= width for line in shown)
        seen += [plain(line) for line in shown]
        overlay.scroll(overlay.page)
    assert seen[0] == "Run this?"[:width].rstrip()
    if width >= 20 and room > 1:
        assert "  last" in seen and "  4 no, because…" in seen


def test_with_little_room_the_short_answers_are_named() -> None:
    assert rows(Overlay(LONG, 0, 0), 60, 5)[-1].startswith("  1 yes  3 no · rows 1-4 of 8")


def test_in_the_smallest_window_the_short_answers_are_named_too() -> None:
    assert rows(Overlay(LONG, 0, 0), 20, 3)[-1] == "1 yes  3 no · PgDn"


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("1", PermissionAnswer("allow")),
        ("y", PermissionAnswer("allow")),
        ("2", PermissionAnswer("allow", "repository", "Bash(rm -rf build)")),
        ("3", PermissionAnswer("deny")),
        ("N", PermissionAnswer("deny")),
        ("5", None),
        ("x", None),
    ],
)
def test_a_key_answers(typed: str, answer: PermissionAnswer | None) -> None:
    assert Overlay(ASKED, 0, 0).choose(typed) == answer


def test_an_answer_with_a_reason_waits_for_it() -> None:
    overlay = Overlay(ASKED, 0, 0)
    assert overlay.choose("4") is None
    assert overlay.reason(" use git clean ") == PermissionAnswer("deny", text="use git clean")


def test_the_guard_counts_from_the_last_key_whenever_that_was() -> None:
    assert Overlay(ASKED, 10.0, 9.9).guard_until == 10.0 + GUARD
    assert Overlay(ASKED, 10.0, 10.3).guard_until == 10.3 + GUARD
    overlay = Overlay(ASKED, 10.0, 9.9)
    overlay.key_went_by(10.2)
    assert overlay.guarded(10.2 + GUARD - 0.01) and not overlay.guarded(10.2 + GUARD)
