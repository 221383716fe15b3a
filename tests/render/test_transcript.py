"""The transcript as one who draws it sees it."""

from __future__ import annotations

import pytest

from grokmini.protocol.events import (
    Notice,
    PermissionAnswered,
    PermissionAsked,
    TextDelta,
    ToolProgress,
    ToolStarted,
    TurnStarted,
)
from grokmini.protocol.permission import PermissionAnswer
from grokmini.protocol.tools import ToolKind
from grokmini.render.lines import line_of, plain
from grokmini.render.transcript import Shown, Transcript
from tests.render.events import finished, ready


def test_what_waits_behind_a_running_call_is_broken_anew_for_a_new_width() -> None:
    text = "Not enforced by the sandbox here: the number of processes: the kernel sets no limit."
    transcript = Transcript(53, Shown())
    transcript.apply(ready("1", ToolKind.EXECUTE, command="make"))
    transcript.apply(Notice("info", text, "sandbox"))
    transcript.resize(40)
    lines = transcript.live()
    assert all(line.width <= 40 for line in lines)
    assert text in " ".join(" ".join(map(plain, lines)).split())


@pytest.mark.parametrize("more", ["", "\n\nAnd a last word that is still being written."])
def test_a_text_that_waits_behind_a_running_call_is_broken_anew_and_whole(more: str) -> None:
    words = "A paragraph of the answer that came behind a call which runs. " * 3

    def shown(*widths: int) -> list[str]:
        transcript = Transcript(widths[0], Shown())
        transcript.apply(ready("1", ToolKind.EXECUTE, command="make"))
        transcript.apply(TextDelta(f"{words}\n\n"))
        transcript.apply(TextDelta(f"{words}{more}"))
        if not more:
            transcript.apply(Notice("info", "behind it", "sandbox"))
            transcript.apply(ready("2", ToolKind.READ))
        for width in widths[1:]:
            transcript.resize(width)
        lines = [*transcript.live(), *transcript.apply(finished("1")), *transcript.close()]
        return [plain(line) for line in lines]

    assert shown(53, 70, 40) == shown(40)


def test_in_little_room_a_notice_that_waits_takes_one_row_and_the_call_keeps_its_output() -> None:
    text = "Not enforced by the sandbox here: the number of processes: the kernel sets no limit."
    transcript = Transcript(40, Shown())
    transcript.apply(ready("1", ToolKind.EXECUTE, command="make"))
    transcript.apply(ToolStarted("1"))
    transcript.apply(ToolProgress("1", "begun\n"))
    before = transcript.live()
    transcript.apply(Notice("info", text, "sandbox"))
    brief = transcript.live(brief=True)
    assert brief[: len(before)] == before
    assert [plain(line) for line in brief[len(before) :]] == ["", "= Not enforced by the sandbox here: the…"]
    printed = transcript.apply(finished("1"))
    assert text in " ".join(" ".join(map(plain, printed)).split())


def test_what_came_of_no_event_is_a_block_among_the_others() -> None:
    transcript = Transcript(40, Shown())
    printed = [*transcript.beside([line_of("first of all")])]
    printed += transcript.apply(Notice("info", "noticed"))
    printed += transcript.beside([line_of("answer"), line_of("in two rows")])
    printed += transcript.beside([line_of("another")])
    printed += transcript.beside([])
    printed += transcript.apply(Notice("info", "noticed again"))
    rows = ["first of all", "", "= noticed", "", "answer", "in two rows", "", "another", "", "= noticed again"]
    assert [plain(line) for line in printed] == rows


def test_in_little_room_a_call_that_waits_for_an_older_one_takes_one_row() -> None:
    transcript = Transcript(60, Shown())
    for call_id, kind in (("1", ToolKind.EXECUTE), ("2", ToolKind.READ), ("3", ToolKind.EXECUTE)):
        transcript.apply(ready(call_id, kind, command="make" if kind is ToolKind.EXECUTE else "", path="a.py"))
        transcript.apply(ToolStarted(call_id))
    transcript.apply(ToolProgress("3", "three\n"))
    transcript.apply(finished("2", "a.py does not exist.\nFind it.", status="error", error_kind="not_found"))
    transcript.apply(ToolProgress("1", "one\n"))
    assert [plain(line) for line in transcript.live(brief=True)] == [
        "• Run   make",
        "        one",
        "• Read  a.py  x not found …",
        "• Run   make",
        "        three",
    ]


def test_a_call_that_a_question_is_open_about_is_not_shown_beside_it() -> None:
    transcript = Transcript(60, Shown())
    transcript.apply(ready("1", ToolKind.EXECUTE, command="rm -rf build"))
    transcript.apply(ready("2", ToolKind.READ, path="a.py"))
    transcript.apply(PermissionAsked("q", "1", "Run this?", "rm -rf build", ()))
    assert [plain(line) for line in transcript.live()] == ["• Read  a.py"]
    transcript.apply(PermissionAnswered("q", "1", PermissionAnswer("allow", "once")))
    assert [plain(line) for line in transcript.live()] == ["• Run   rm -rf build", "• Read  a.py"]


def test_a_call_that_never_began_shows_no_time() -> None:
    transcript = Transcript(60, Shown())
    transcript.apply(ready("1", ToolKind.EXECUTE, command="make"))
    lines = transcript.apply(finished("1", "The user said no.", status="denied", seconds=0.0))
    assert [plain(line) for line in lines] == ["• Run   make  x denied", "        The user said no."]


def test_a_prompt_that_would_bury_the_rest_shows_its_beginning_and_its_end() -> None:
    transcript = Transcript(40, Shown(prompt_rows=8))
    paste = "\n".join(f"line {number}" for number in range(5000))
    rows = [plain(line) for line in transcript.apply(TurnStarted("p", 0, f"look at this\n{paste}"))]
    assert rows == [
        *("› look at this", "  line 0", "  line 1", "  line 2", "  line 3"),
        "  … 4,994 more rows · /transcript",
        *("  line 4998", "  line 4999"),
    ]
    eight = "\n".join("12345678")
    assert len(transcript.apply(TurnStarted("p", 1, eight))) == 1 + 8
