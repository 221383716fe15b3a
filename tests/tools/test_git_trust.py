"""Repositories that would make git run their own programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grokmini.tools.git_trust import runs_programs
from tests.tools.judging import Ground, word


def git(*words: str, at: Path) -> None:
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", *words],
        cwd=at,
        check=True,
        capture_output=True,
    )


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    made = Ground(tmp_path)
    made.repository()
    return made


HOSTILE = [
    "[core]\n\tfsmonitor = ./evil",
    "[core] fsmonitor = ./evil",
    "[CORE]\nFSMonitor=./evil",
    "[core]\npager = ./evil",
    "[core]\nsshCommand = ./evil",
    "[core]\nhooksPath = evil",
    "[core]\nworktree = /",
    "[pager]\nlog = ./evil",
    "[diff]\nexternal = ./evil",
    '[diff "x"]\ncommand = ./evil',
    '[diff "x"]\ntextconv = ./evil',
    '[filter "x"]\nclean = ./evil',
    '[filter "x"]\nprocess = ./evil',
    '[filter "a]b"]\nsmudge = ./evil',
    "[diff.x]\ntextconv = ./evil",
    "[include]\npath = ../evil",
    '[includeIf "gitdir:/"]\npath = ../evil',
    "[alias]\nstatus = !./evil",
    "[gpg]\nprogram = ./evil",
    "[interactive]\ndiffFilter = ./evil",
    "[protocol]\nallow = always",
    '[remote "o"]\nuploadpack = ./evil',
    '[remote "o"]\npromisor = true',
    '[submodule "x"]\nupdate = !./evil',
    "[core]\npag\\\ner = ./evil",
    "this is no git configuration",
    "[core",
    "\ufeff[core]\nfsmonitor = ./evil",
    "# [x]\n[user]\nname = x\n[core]\nfsmonitor = ./evil ; true",
    '[core]\nfsmonitor = "./evil"',
]

HARMLESS = [
    "[user]\n\tname = A B\n\temail = a@b",
    "[core]\n\tautocrlf = input\n\tfsmonitor = false\n\tignorecase = true",
    '[remote "origin"]\n\turl = https://example.org/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*',
    '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main',
    "[pull]\n\trebase = true",
    '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tsmudge = git-lfs smudge -- %f',
    '[filter "lfs"]\n\tprocess = git-lfs filter-process\n\trequired = true',
    "[color]\n\tui = auto ; a comment",
    '[submodule "x"]\n\turl = ../x\n\tactive = true\n\tupdate = rebase',
]


@pytest.mark.parametrize("config", HOSTILE)
def test_git_is_asked_about_where_the_repository_names_programs(ground: Ground, config: str) -> None:
    with (ground.root / ".git" / "config").open("a") as file:
        file.write(("" if config.startswith("\ufeff") else "\n") + config + "\n")
    if config.startswith("\ufeff"):
        (ground.root / ".git" / "config").write_text(config)
    assert word(ground.run("git status")) == "ask"
    assert word(ground.run("ls && git log")) == "ask"
    assert word(ground.run("ls")) == "allow"


@pytest.mark.parametrize("config", HARMLESS)
def test_ordinary_configuration_is_no_reason_to_ask(ground: Ground, config: str) -> None:
    with (ground.root / ".git" / "config").open("a") as file:
        file.write("\n" + config + "\n")
    assert word(ground.run("git status")) == "allow"


def test_the_question_names_the_setting(ground: Ground) -> None:
    with (ground.root / ".git" / "config").open("a") as file:
        file.write("\n[core]\nfsmonitor = ./evil\n")
    assert runs_programs(ground.root).endswith("config sets core.fsmonitor")


def test_a_bare_repository_hidden_in_a_folder_is_seen(ground: Ground) -> None:
    bare = ground.root / "fixtures" / "x"
    bare.mkdir(parents=True)
    git("init", "-q", "--bare", ".", at=bare)
    with (bare / "config").open("a") as file:
        file.write("[core]\nfsmonitor = ./evil\n")
    assert word(ground.run("git status")) == "allow"
    assert word(ground.run("cd fixtures/x && git status")) == "ask"
    ground.folder = bare
    assert word(ground.run("git status")) == "ask"


def test_a_git_file_and_a_worktree_are_followed(ground: Ground, tmp_path: Path) -> None:
    git("commit", "-q", "--allow-empty", "-m", "x", at=ground.root)
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", str(linked), at=ground.root)
    assert runs_programs(linked) == ""
    with (ground.root / ".git" / "config").open("a") as file:
        file.write("\n[core]\nfsmonitor = ./evil\n")
    assert runs_programs(linked)


def test_submodules_are_looked_into(ground: Ground, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git("init", "-q", ".", at=other)
    git("commit", "-q", "--allow-empty", "-m", "x", at=other)
    git("submodule", "--quiet", "add", str(other), "sub", at=ground.root)
    assert runs_programs(ground.root) == ""
    with (ground.root / ".git" / "modules" / "sub" / "config").open("a") as file:
        file.write("\n[core]\nfsmonitor = ./evil\n")
    assert runs_programs(ground.root)


def test_a_repository_embedded_without_being_declared_is_looked_into(ground: Ground) -> None:
    inner = ground.root / "inner"
    inner.mkdir()
    git("init", "-q", ".", at=inner)
    git("commit", "-q", "--allow-empty", "-m", "x", at=inner)
    git("add", "inner", at=ground.root)
    assert runs_programs(ground.root) == ""
    with (inner / ".git" / "config").open("a") as file:
        file.write("\n[core]\nfsmonitor = ./evil\n")
    assert runs_programs(ground.root)


def test_a_hook_that_reading_would_run_is_seen(ground: Ground) -> None:
    hook = ground.root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch pwned\n")
    assert runs_programs(ground.root) == ""
    hook.chmod(0o755)
    assert runs_programs(ground.root)


def test_what_cannot_be_read_counts_as_hostile(ground: Ground) -> None:
    config = ground.root / ".git" / "config"
    config.unlink()
    config.mkdir()
    assert runs_programs(ground.root)


def test_outside_of_a_repository_there_is_nothing_to_fear(tmp_path: Path) -> None:
    assert runs_programs(tmp_path) == ""


@pytest.mark.parametrize("head", ["", "no branch\n", "link"])
def test_what_is_no_whole_git_folder_hides_no_repository_above_it(ground: Ground, head: str) -> None:
    inner = ground.root / "sub" / "deep"
    marker = ground.root / "sub" / ".git"
    inner.mkdir(parents=True)
    for folder in ("objects", "refs"):
        (marker / folder).mkdir(parents=True)
    if head == "link":  # git takes only a link into refs/
        (marker / "real").write_text("ref: refs/heads/main\n")
        (marker / "HEAD").symlink_to("real")
    elif head:
        (marker / "HEAD").write_text(head)
    git("status", at=inner)
    assert runs_programs(inner) == ""
    with (ground.root / ".git" / "config").open("a") as file:
        file.write("\n[core]\nfsmonitor = ./evil\n")
    assert runs_programs(inner).endswith("config sets core.fsmonitor")


def test_a_bare_repository_that_shares_the_objects_of_another_is_seen(ground: Ground) -> None:
    bare, shared = ground.root / "fixtures", ground.root / "fixtures" / "shared"
    for folder in ("objects", "refs"):
        (shared / folder).mkdir(parents=True)
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "commondir").write_text("./shared\n")
    git("symbolic-ref", "HEAD", at=bare)
    (shared / "config").write_text("[gpg]\nprogram = ./evil\n")
    assert runs_programs(bare).endswith("config sets gpg.program")


def test_repositories_in_a_linked_worktree_are_looked_into(ground: Ground, tmp_path: Path) -> None:
    git("commit", "-q", "--allow-empty", "-m", "x", at=ground.root)
    linked = tmp_path / "linked"
    git("worktree", "add", "-q", str(linked), at=ground.root)
    inner = linked / "inner"
    inner.mkdir()
    git("init", "-q", ".", at=inner)
    git("commit", "-q", "--allow-empty", "-m", "x", at=inner)
    git("add", "inner", at=linked)
    assert runs_programs(linked) == ""
    with (inner / ".git" / "config").open("a") as file:
        file.write("\n[core]\nfsmonitor = ./evil\n")
    assert runs_programs(linked).endswith("config sets core.fsmonitor")


def test_a_git_folder_with_a_detached_head_is_the_last_one_looked_at(ground: Ground) -> None:
    inner = ground.root / "inner"
    inner.mkdir()
    git("init", "-q", ".", at=inner)
    git("commit", "-q", "--allow-empty", "-m", "x", at=inner)
    git("checkout", "-q", "--detach", at=inner)
    with (ground.root / ".git" / "config").open("a") as file:
        file.write("\n[core]\nfsmonitor = ./evil\n")
    assert runs_programs(inner) == ""
    assert runs_programs(ground.root)
