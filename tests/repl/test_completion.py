"""Tab completes commands and paths at the end of the draft."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.repl.completion import Completion, complete

COMMANDS = ("diff", "model", "mode", "usage")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    for name in ("calc.py", "calendar.py", "README.md", ".hidden", "a b.txt", "evil\x1b[2J"):
        (tmp_path / name).write_text("")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.py").write_text("")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("draft", "completion"),
    [
        ("/us", Completion("age ")),
        ("/mo", Completion("de")),
        ("/mode", Completion("", ("mode", "model"))),
        ("/x", Completion("")),
        ("/mode a", Completion("")),
        ("see @RE", Completion("ADME.md")),
        ("see @c", Completion("al")),
        ("see @cal", Completion("", ("calc.py", "calendar.py"))),
        ("see @src", Completion("/")),
        ("see @src/", Completion("main.py")),
        ("see @.h", Completion("idden")),
        ("see @e", Completion("")),
        ("see @none/", Completion("")),
        ("see RE", Completion("")),
        ("/cd s", Completion("rc/")),
        ("!cat RE", Completion("ADME.md")),
        ("@~nobody-of-that-name/", Completion("")),
        ("", Completion("")),
        ("word ", Completion("")),
    ],
)
def test_tab_adds_what_is_decided_and_lists_what_is_not(
    folder: str, draft: str, completion: Completion
) -> None:
    assert complete(draft, COMMANDS, folder) == completion


@pytest.mark.parametrize(
    ("draft", "completion"),
    [
        ("/sandbox r", Completion("ead-only")),
        ("/sandbox ", Completion("", ("off", "read-only", "strict"))),
        ("/sandbox x", Completion("")),
        ("/sandbox off o", Completion("")),
        ("/mode o", Completion("")),
        ("sandbox o", Completion("")),
    ],
)
def test_tab_completes_the_names_that_a_command_takes(draft: str, completion: Completion) -> None:
    profiles = {"sandbox": ("off", "read-only", "strict")}
    assert complete(draft, COMMANDS, "/nowhere", lambda command: profiles.get(command, ())) == completion


def test_many_candidates_are_counted(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number:02}").write_text("")
    assert complete("@", (), str(tmp_path)).candidates[-1] == "and 10 more"
