"""Where a program does not say that the sandbox was in its way, or that it left something behind, we do."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.e2e.sandboxed import not_in_temporary, session

ADVICE = "put `ulimit -d unlimited;` before the command"
BUILD = "echo 'int main(void) { return 0; }' >m.c && cc -fsanitize=address m.c -o checked"


@pytest.fixture
def place(place: Place) -> Iterator[Place]:
    """A place whose home is in no temporary folder, with a repository."""
    with not_in_temporary(place) as place:
        subprocess.run(["git", "init", "-q"], cwd=place.project, env=place.environment(), check=True)
        yield place


def test_a_program_with_a_sanitizer_says_how_it_runs_and_does(place: Place) -> None:
    built, refused, done = session(
        place, BUILD, "./checked && echo went on", "ulimit -d unlimited; ./checked && echo done"
    )
    assert built.notes == [] and "done" in done.printed and done.notes == []
    assert "went on" not in refused.printed
    assert [note for note in refused.notes if ADVICE in note]
    told = place.run("sandbox", "run", "--", "./checked")
    assert told.returncode != 0 and ADVICE in told.stderr


def test_what_a_single_command_leaves_for_others_to_obey_is_told_at_its_end(place: Place) -> None:
    (place.home / ".gitconfig").write_text("[core]\n\thooksPath = hooks\n")
    told = place.run("sandbox", "run", "--", "sh", "-c", "mkdir hooks; echo ran")
    assert (told.returncode, told.stdout) == (0, "ran\n")
    assert f"! {place.project}/hooks is there since a command ran" in " ".join(told.stderr.split())
    assert place.run("sandbox", "run", "--", "ls", "hooks").stderr == ""


def test_a_denied_name_that_is_not_there_is_told_by_run_explain_and_check(place: Place) -> None:
    settings = place.home / ".config/grokmini/sandbox.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[profiles.mine]\ndeny = ["~/.keys/mian", "*.pem"]\n')
    Path(place.home, ".keys").mkdir()
    for words in (("run", "--", "true"), ("explain",), ("check",)):
        done = place.run("sandbox", words[0], "--profile", "mine", *words[1:])
        said = " ".join((done.stdout + done.stderr).split())
        assert f"denies what is not there: {place.home}/.keys/mian" in said, words
        assert ("*.pem" in said) == (words[0] != "run"), words
