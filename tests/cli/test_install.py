"""`grokmini completions install` writes where shells and `man` look, and over nothing that is not ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.cli.install import wanted
from grokmini.cli.main import main
from grokmini.cli.shells import SCRIPTS
from grokmini.protocol.errors import UsageError

FISH = ".config/fish/completions/grokmini.fish"
EVERYTHING = {
    ".local/share/bash-completion/completions/grokmini",
    ".local/share/zsh/site-functions/_grokmini",
    FISH,
    ".local/share/man/man1/grokmini.1",
    ".local/share/man/man5/grokmini-config.5",
}


def install(*words: str) -> int:
    """Run the command."""
    return main(["completions", "install", *words])


def files_below(home: Path) -> set[str]:
    """Every file below, as paths from there."""
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()}


def test_everything_is_written_and_named(fresh_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert install("bash", "zsh", "fish") == 0
    assert files_below(fresh_home) == EVERYTHING
    said = capsys.readouterr().out
    assert all(str(fresh_home / name) in said for name in EVERYTHING)
    assert f"fpath=({fresh_home}/.local/share/zsh/site-functions $fpath)" in said
    assert (fresh_home / FISH).read_text() == SCRIPTS["fish"]()


def test_only_the_shells_that_are_named(fresh_home: Path) -> None:
    assert install("fish") == 0
    assert {name for name in files_below(fresh_home) if "/man/" not in name} == {FISH}


def test_an_older_file_of_ours_is_replaced(fresh_home: Path) -> None:
    install("fish")
    (fresh_home / FISH).write_text("# Made by grokmini 0.0.1 from its own tables; changes are overwritten.\n")
    assert install("fish") == 0
    assert (fresh_home / FISH).read_text() == SCRIPTS["fish"]()


def test_a_file_of_somebody_else_stays_and_is_told_of(
    fresh_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (fresh_home / FISH).parent.mkdir(parents=True)
    (fresh_home / FISH).write_text("# mine\n")
    assert install("fish") == 1
    assert (fresh_home / FISH).read_text() == "# mine\n"
    assert f"left alone, it is not ours: {fresh_home / FISH}" in capsys.readouterr().out
    assert install("--force", "fish") == 0
    assert (fresh_home / FISH).read_text() == SCRIPTS["fish"]()


def test_a_link_is_not_written_through(fresh_home: Path) -> None:
    (fresh_home / FISH).parent.mkdir(parents=True)
    target = fresh_home / "precious"
    target.write_text("Made by grokmini\n")
    (fresh_home / FISH).symlink_to(target)
    assert install("fish") == 1
    assert target.read_text() == "Made by grokmini\n"


def test_a_folder_that_refuses_is_named(fresh_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (fresh_home / ".config").write_text("a file where a folder should be")
    assert install("fish") == 1
    assert "fish  cannot be written" in capsys.readouterr().out


def test_the_variables_that_move_folders_are_honoured() -> None:
    env = {"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c", "BASH_COMPLETION_USER_DIR": "/b"}
    assert [str(file.path) for file in wanted(("bash", "zsh", "fish"), env)] == [
        "/b/completions/grokmini",
        "/d/zsh/site-functions/_grokmini",
        "/c/fish/completions/grokmini.fish",
        "/d/man/man1/grokmini.1",
        "/d/man/man5/grokmini-config.5",
    ]


def test_without_a_home_nothing_is_written_anywhere() -> None:
    with pytest.raises(UsageError, match="no home folder"):
        wanted(("bash",), {})
