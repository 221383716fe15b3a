"""Whether a command that the sandbox stopped in something did what it was for all the same."""

from __future__ import annotations

import pytest

from grokmini.tools.went_on import went_on

PUSHED = """To ../up.git
 * [new branch]      main -> main
error: could not write config file .git/config: Device or resource busy
branch 'main' set up to track 'origin/main'.
"""
AGAIN = PUSHED.replace(" * [new branch]     ", "   1a2b..3c4d ")
NOTHING_NEW = PUSHED.replace("To ../up.git\n * [new branch]      main -> main", "Everything up-to-date")
CONFIG = ("/p/.git/config",)
CACHE = ("/home/a/.cache/x",)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("git push -u origin main", PUSHED),
        ("git push -u origin main 2>&1 | tail -5", PUSHED),
        ("git add . && git commit -m x; git push -u origin main", AGAIN),
        ("git push -u origin main | cat", NOTHING_NEW),
    ],
)
def test_a_push_that_git_says_was_done(command: str, output: str) -> None:
    assert "the push itself succeeded" in went_on(command, 0, output, CONFIG)
    assert went_on(command, 1, output, CONFIG) == ""
    assert "push" not in went_on(command, 0, output, ("/p/out",)), "something else was stopped"


@pytest.mark.parametrize(
    "said",
    [
        "fatal: could not set 'remote.x.url' to 'y'",
        " ! [rejected]        other -> other (fetch first)",
        "error: failed to push some refs to '../up.git'",
    ],
)
def test_where_something_failed_besides_the_push_does_not_count(said: str) -> None:
    assert went_on("git push -u origin main | cat", 0, f"{PUSHED}{said}\n", CONFIG) == ""


@pytest.mark.parametrize(
    "command",
    [
        "pip install x",
        "python -m pytest -q",
        "pytest",
        "cd sub && git fetch",
        "npm ci",
        "cargo build 2>&1",
        "git fetch && git status",
    ],
)
def test_a_program_that_would_have_ended_otherwise_did_its_work(command: str) -> None:
    assert "ended well" in went_on(command, 0, "", CACHE)
    assert went_on(command, 1, "", CACHE) == ""
    assert went_on(command, None, "", CACHE) == "", "it was killed"


@pytest.mark.parametrize(
    "command",
    [
        "pip install x 2>&1 | tail",
        "pip install x |& tail",
        "pip install x || true",
        "pip install x; echo done",
        "pip install x &",
        "pip install x\necho done",
        "npm run build",
        "make install",
        "python build.py",
        "sh -c 'pip install x; true'",
        "touch x",
        "python -m build",
        "$(pip install x)",
        "if pip install x; then true; fi",
        "",
    ],
)
def test_an_exit_code_that_may_be_another_s_says_nothing(command: str) -> None:
    assert went_on(command, 0, "", CACHE) == ""
