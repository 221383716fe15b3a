"""Repositories within repositories, and `.git` that is a link or a file: what a command made is kept and told."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.files.git_settings import gitlinks
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.resolve import Around
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, working
from tests.sandbox.test_git_protected import GIT, git, repository

NESTED = f"git init -q sub && cd sub && {GIT} commit -q --allow-empty -m one && cd .. && {GIT} add sub 2>&1"
HOSTILE = "git -C sub config core.fsmonitor"


def settings_told(runner: SandboxedRunner) -> list[str]:
    return [text for text in runner.enforcement.notices if text.startswith("git settings: ")]


@pytest.mark.parametrize("version", ["2", "4"])
async def test_a_nested_repository_that_would_run_something_is_told_at_the_end_of_the_command(
    tmp_path: Path, version: str
) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    git(work, "config", "index.version", version)
    (work / "aa").touch()
    git(work, "add", "aa")
    ran = tmp_path / "ran"
    calls: list[str] = []
    async with working(around, told=lambda: calls.append("told")) as runner:
        await said(runner, "true", work)
        before = len(calls)
        await said(runner, f"{NESTED}; {HOSTILE} 'touch {ran};'", work)
        (text,) = settings_told(runner)
        assert f"{work}/sub/.git/config sets core.fsmonitor" in text and "git status" in text
        assert len(calls) == before + 1
        await said(runner, "true", work)
        assert len(settings_told(runner)) == 1
    git(work, "status")
    assert ran.exists(), "it would be run"


async def test_a_nested_repository_of_the_person_is_not_told_and_one_without_programs_neither(
    tmp_path: Path,
) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    git(work / "mine", "init", "-q")
    git(work / "mine", "config", "core.fsmonitor", "mine")
    git(work / "mine", "-c", "core.fsmonitor=false", "commit", "-q", "--allow-empty", "-m", "one")
    git(work, "-c", "core.fsmonitor=false", "add", "mine")
    async with working(around) as runner:
        await said(runner, NESTED, work)
        assert "sub" in gitlinks(work / ".git/index")
        assert settings_told(runner) == []


async def test_a_nested_repository_keeps_its_settings_and_hooks_from_the_next_command_on(
    tmp_path: Path,
) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    async with working(around) as runner:
        await said(runner, NESTED, work)
        await said(runner, f"{HOSTILE} x; echo x >>sub/.git/config; echo x >sub/.git/hooks/pre-commit", work)
        await said(
            runner, f"mv sub/.git sub/g; mv sub was; {HOSTILE} x; echo ../evil >sub/.git/commondir", work
        )
        assert "two" in await said(runner, f"cd sub; {GIT} commit --allow-empty -m two", work)
    assert "fsmonitor" not in (work / "sub/.git/config").read_text()
    assert "x\n" not in (work / "sub/.git/config").read_text().splitlines(keepends=True)
    assert not (work / "sub/.git/hooks/pre-commit").exists()
    assert not (work / "sub/.git/commondir").exists()


def linked(root: Path) -> tuple[Around, Path]:
    """A project whose `.git` is a link to the folder of a repository elsewhere."""
    around = around_of(root)
    real = repository(root / "real") / ".git"
    Path(around.cwd, ".git").symlink_to("../real/.git")
    return around, real


async def test_through_a_link_commits_work_and_the_settings_stay_and_the_link_is_told(tmp_path: Path) -> None:
    around, real = linked(tmp_path)
    around = replace(around, git_link=os.path.realpath(real))
    work = Path(around.cwd)
    before = (real / "config").read_text()
    async with working(around) as runner:
        assert "two" in await said(runner, f"{GIT} commit --allow-empty -m two 2>&1", work)
        await said(runner, "echo x >>.git/config; echo x >.git/hooks/pre-commit; echo x >../real/file", work)
        assert f"{work}/.git is a symbolic link and can be replaced" in " ".join(runner.enforcement.lost)
    assert (real / "config").read_text() == before
    assert not (real / "hooks/pre-commit").exists() and not (tmp_path / "real/file").exists()


async def test_a_link_that_a_command_makes_opens_no_other_repository(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    real = repository(tmp_path / "real") / ".git"
    async with working(around) as runner:
        await said(runner, "ln -s ../real/.git .git", around.cwd)
        await said(runner, f"{GIT} commit --allow-empty -m two; echo x >.git/x; rm .git/HEAD", around.cwd)
    assert git(tmp_path / "real", "log", "--format=%s") == "one\n"
    assert not (real / "x").exists()


async def test_a_file_that_a_command_makes_of_dot_git_is_kept_with_what_it_leads_to(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = Path(around.cwd)
    made = f"git init -q own && mv own/.git own/g && echo 'gitdir: own/g' >.git && {GIT} commit -q --allow-empty -m a"
    async with working(around) as runner:
        await said(runner, made, work)
        before = (work / "own/g/config").read_text()
        await said(runner, "git config core.fsmonitor x; echo x >>own/g/config; echo x >own/g/hooks/h", work)
        await said(runner, "echo x >.git; rm .git; mv own was", work)
        assert (work / "own/g/config").read_text() == before
        assert (work / ".git").read_text() == "gitdir: own/g\n"
        assert not (work / "own/g/hooks/h").exists()


async def test_a_repository_that_a_command_makes_of_the_folder_is_told_when_it_would_run_something(
    tmp_path: Path,
) -> None:
    around = around_of(tmp_path)
    async with working(around) as runner:
        made = "git init -q own; mv own/.git g; git --git-dir g config core.fsmonitor x; echo 'gitdir: g' >.git"
        await said(runner, made, around.cwd)
        (text,) = settings_told(runner)
        assert f"{around.cwd}/g/config sets core.fsmonitor" in text
