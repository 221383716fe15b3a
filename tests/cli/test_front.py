"""Which front end a command line gets, and what is said of options that do not belong to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.cli.front import is_headless, without_headless_options
from grokmini.cli.options import Options
from grokmini.cli.pick_session import row
from grokmini.store.sessions import SessionInfo
from grokmini.store.summary import Summary


@pytest.mark.parametrize(
    ("options", "terminal", "headless"),
    [
        (Options(), True, False),
        (Options(prompt="hi"), True, False),
        (Options(prompt="hi", print_mode=True), True, True),
        (Options(read_stdin=True), True, True),
        (Options(), False, True),
        (Options(prompt="hi"), False, True),
    ],
)
def test_a_person_at_stdin_gets_the_repl_and_all_else_is_headless(
    options: Options, terminal: bool, headless: bool
) -> None:
    assert is_headless(options, stdin_is_terminal=terminal) is headless


def test_headless_options_are_ignored_with_a_word_by_the_repl(capsys: pytest.CaptureFixture[str]) -> None:
    given = Options(prompt="hi", max_turns=3, tools=("grep",), output_format="json", model="m")
    assert without_headless_options(given) == Options(prompt="hi", model="m")
    said = capsys.readouterr().err.splitlines()
    assert [line.split()[1] for line in said] == ["--output-format", "--max-turns", "--tools"]


def test_options_of_the_repl_are_kept_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    given = Options(permission_mode="plan", continue_last=True, debug=True)
    assert without_headless_options(given) == given
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "ago"), [(0, " 0 min ago"), (7199, "119 min ago"), (7200, "2 h ago"), (200_000, "2 days ago")]
)
def test_a_session_to_pick_shows_number_age_id_and_title(tmp_path: Path, seconds: float, ago: str) -> None:
    session_id = "01930c5e-0000-7000-8000-000000000000"
    info = SessionInfo(session_id, tmp_path, 1000.0, Summary(session_id=session_id, cwd="/src", title="fix it"))
    line = row(3, info, 1000.0 + seconds)
    assert line.startswith("  3 ")
    assert f"{ago}  01930c5e  fix it" in line
