"""Lists of sessions: every line fits, columns stand under each other, ids tell sessions apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.cli.session_rows import row_of
from grokmini.render.figures import ago
from grokmini.render.session_list import Row, table, unique_length
from grokmini.store.sessions import SessionInfo
from grokmini.store.summary import Summary
from grokmini.text.width import cell_width

FIRST, SECOND, THIRD = (f"019a3c5e-{n}000-7000-8000-000000000000" for n in "128")
ROWS = [
    Row(FIRST, "fix the failing test in calc", 720, 3, True, False, "~/src/shop"),
    Row(
        SECOND,
        "だれかの長い題名がここにあってはみ出します",
        90_000,
        1,
        False,
        True,
        "~/a/very/long/path/to/some/other/project",
    ),
    Row(THIRD, "why", 5, 12, False, False, "~"),
]


def test_a_wide_list_shows_everything_in_columns() -> None:
    here = [row._replace(folder="") for row in ROWS[:1] + ROWS[2:]]
    assert table(here, width=None, id_length=10) == [
        "019a3c5e-1  12 min   3 prompts  live  fix the failing test in calc",
        "019a3c5e-8     now  12 prompts        why",
    ]


def test_folders_stand_behind_titles() -> None:
    lines = table(ROWS, width=None, id_length=10)
    ends = [cell_width(line) - cell_width(row.folder) for line, row in zip(lines, ROWS, strict=True)]
    assert len(set(ends)) == 1


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    assert max(map(cell_width, table(ROWS, width=width, id_length=10))) <= width


def test_on_forty_columns_age_marks_and_title_are_left() -> None:
    assert table(ROWS, width=40, id_length=8) == [
        "019a3c5e  12 min  *  fix the failing te…",
        "019a3c5e    25 h  +  だれかの長い題名が…",
        "019a3c5e     now     why",
    ]


def test_of_a_long_folder_the_end_is_shown() -> None:
    assert table(ROWS, width=90, id_length=10)[1].endswith("some/other/project")


def test_what_a_title_holds_cannot_drive_the_terminal() -> None:
    summary = Summary(session_id=FIRST, cwd="/src", title="a\x1b[31mb\nc")
    row = row_of(SessionInfo(FIRST, Path("/x"), 0.0, summary), now=10.0, live=False)
    assert row.title == "a␛[31mb␊c"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "now"),
        (59, "now"),
        (60, "1 min"),
        (7_199, "119 min"),
        (7_200, "2 h"),
        (172_799, "47 h"),
        (172_800, "2 days"),
        (86_400 * 27, "27 days"),
        (86_400 * 28, "4 weeks"),
        (86_400 * 800, "2 years"),
    ],
)
def test_ages_are_told_in_the_unit_that_fits(seconds: float, text: str) -> None:
    assert ago(seconds) == text


def test_an_id_is_as_long_as_tells_it_from_all_others() -> None:
    assert unique_length([FIRST], [FIRST]) == 8
    assert unique_length([FIRST, SECOND], [FIRST, SECOND, THIRD]) == 10
    assert unique_length([FIRST], [THIRD, "0", FIRST, FIRST[:-1] + "1"]) == 36
