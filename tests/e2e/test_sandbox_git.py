"""Everyday git under the profile `workspace`, in the installed program."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.e2e.program import SECONDS, Place
from tests.e2e.sandboxed import add_git_config, session, works

COMMITS = 500
PAGER = "touch pager-ran; exec sleep 1000"


@pytest.fixture
def place(place: Place) -> Place:
    """With a git that knows its user."""
    add_git_config(place)
    return place


def git(place: Place, *words: str, folder: Path | None = None) -> str:
    """What git says to the person themself, outside of everything."""
    done = subprocess.run(
        ["git", *words],
        cwd=folder or place.project,
        env=place.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_repository_is_made_and_worked_in_from_the_first_commit_to_a_merge(place: Place) -> None:
    *_, log, status, stashed = works(
        place,
        "git init",
        "echo one >f && git add f && git commit -m one",
        "git switch -c side && echo two >>f && git stash && git stash pop && git commit -am two && git tag v1",
        "git switch main && echo three >g && git add g && git commit -m three",
        "git switch side && git rebase main",
        "git switch main && git merge --no-ff side -m merged && git merge-base --is-ancestor v1~1 main",
        "git commit --amend --no-edit && git revert --no-edit v1 && git cherry-pick v1",
        "git worktree add linked -b tree && cd linked && echo four >h && git add h && git commit -m four",
        "cd .. && git worktree remove linked && git branch -d side && git gc && git fsck --strict",
        "git log --format=%s --all",
        "git status --short",
        "git stash list",
    )
    assert {"one", "two", "three", "four", "merged"} <= set(log.splitlines())
    assert (status, stashed) == ("", "")
    assert git(place, "cat-file", "-p", "tree:h") == "four"


def test_a_commit_is_made_and_what_steers_git_cannot_be_written(place: Place) -> None:
    """H54, with every trick that leaves the words `.git/hooks` out of the command."""
    made, hook, config, around, moved = session(
        place,
        "git init && touch f && git add f && git commit -m m",
        "echo x > .git/hooks/pre-commit",
        "git config core.pager sh",
        "cd .git && cd hooks && echo x > pre-commit",
        "mv .git/hooks .git/old || mv .git old",
    )
    assert made.head == "exit: 0"
    for refused in (hook, config, around, moved):
        assert refused.head != "exit: 0", refused
    assert hook.head.startswith("Not run: this needs the user's permission"), "hooks are asked about before"
    assert f"{place.project}/.git/config stays read-only" in " ".join(config.notes)
    assert git(place, "log", "--format=%s") == "m"
    assert not (place.project / ".git/hooks/pre-commit").exists()
    assert "pager" not in (place.project / ".git/config").read_text()


def test_a_local_repository_is_cloned_fetched_and_pulled_from(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(place, "init", folder=other)
    git(place, "commit", "--allow-empty", "-m", "theirs", folder=other)
    git(place, "init")
    *_, cloned, fetched = works(
        place,
        f"git fetch {other} main:theirs && git switch theirs",
        f"git clone {other} copy && cd copy && git commit --allow-empty -m ours && git push origin HEAD:ours",
        "git config user.name Else && git pull --rebase && git log --format=%s",
        "cd .. && git log --format=%s",
    )
    assert cloned.splitlines()[-2:] == ["ours", "theirs"]
    assert fetched == "theirs"
    assert git(place, "log", "--format=%s", "ours", folder=other) == "ours\ntheirs"


def test_a_linked_worktree_is_worked_in(place: Place, tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(place, "init", folder=main)
    git(place, "commit", "--allow-empty", "-m", "one", folder=main)
    git(place, "worktree", "add", "-b", "side", str(place.project / "tree"), folder=main)
    linked = Place(place.home, place.project / "tree")
    works(linked, "echo two >f && git add f && git commit -m two", "git switch -c more && git rebase main")
    assert git(linked, "log", "--format=%s", "side", folder=main) == "two\none"
    (hook,) = session(linked, "cd $(git rev-parse --git-common-dir)/hooks && echo x >post-commit")
    assert hook.head != "exit: 0"
    assert not (main / ".git/hooks/post-commit").exists()


def test_under_read_only_a_repository_is_looked_at_and_nothing_else(place: Place) -> None:
    git(place, "init")
    git(place, "commit", "--allow-empty", "-m", "one")
    looked, copied, refused = session(
        place,
        "git status --short --branch && git log --format=%s",
        "git clone -q . $(mktemp -d)/copy && echo copied",
        "git commit --allow-empty -m two",
        profile="read-only",
    )
    assert (looked.head, looked.printed) == ("exit: 0", "## main\none")
    assert (copied.head, copied.printed) == ("exit: 0", "copied")
    assert refused.head != "exit: 0"
    assert any(f"{place.project}/.git" in note and "read-only" in note for note in refused.notes), refused
    assert git(place, "log", "--format=%s") == "one"


def test_under_strict_commits_are_made_in_the_name_of_the_person(place: Place) -> None:
    works(
        place, "git init && touch f && git add f && git commit -m one", "git switch -c side", profile="strict"
    )
    assert git(place, "log", "--format=%an: %s", "side") == "Someone: one"


def history(place: Place) -> None:
    """A repository of 500 commits and a change that is not committed, made in one go."""
    git(place, "init")
    text = "".join(
        f"commit refs/heads/main\ncommitter A <a@example.com> {1_700_000_000 + number} +0000\n"
        f"data {len(str(number)) + 7}\ncommit {number}\nM 644 inline f\ndata 4000\n{str(number) * 4000:.4000}\n"
        for number in range(1, COMMITS + 1)
    )
    subprocess.run(
        ["git", "fast-import", "--quiet"], cwd=place.project, input=text, text=True, check=True, timeout=SECONDS
    )
    git(place, "reset", "--hard")
    (place.project / "f").write_text("changed\n" * 100_000)


def test_no_pager_of_the_person_is_waited_for(place: Place) -> None:
    """H57"""
    add_git_config(place, f'[core]\n    pager = "{PAGER}"\n[pager]\n    log = "{PAGER}"\n    diff = true\n')
    history(place)
    (place.project / "tool.1").write_text(".TH TOOL 1\n.SH NAME\ntool \\- a page\n" + ".PP\nwords\n" * 2_000)
    log, diff, branch, page, manual, services, less = session(
        place,
        "git log",
        "git diff",
        "git branch -a",
        "man ./tool.1",
        "man ls",
        "systemctl status",
        "seq 100000 | less",
        env={"PAGER": "less", "MANPAGER": "less", "GIT_PAGER": "less", "SYSTEMD_PAGER": "less"},
    )
    for each in (log, diff, branch, page, manual, services, less):
        assert "killed" not in each.head, each.command
        assert len(each.text.encode()) < 60_000, each.command
    assert "commit 500" in log.text and "changed" in diff.text
    assert "tool - a page" in page.text
    assert "100000" in less.text
    assert not (place.project / "pager-ran").exists()
