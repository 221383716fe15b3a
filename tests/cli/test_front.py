"""Which front end a command line gets, and what is said of options that do not belong to it."""

from __future__ import annotations

import pytest

from grokmini.cli.front import is_headless, without_headless_options
from grokmini.cli.options import Options


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
