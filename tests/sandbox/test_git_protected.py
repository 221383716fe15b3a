"""What steers git stays as it is, whatever commands do, in every kind of repository; and git still works there."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.sandbox.git_folders import git_protected, steered_folders
from grokmini.sandbox.redirections import remove_redirections
from tests.sandbox.places import said, shell
from tests.sandbox.resolved import around_of, resolved, working
from tests.waiting import until

NAMES = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
GIT = " ".join(("git", *NAMES))
ROOT = Path(__file__).resolve().parents[2]


def git(folder: Path, *words: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["git", *NAMES, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def repository(folder: Path) -> Path:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


async def test_a_repository_that_a_command_made_is_covered_from_the_next_command_on(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = Path(around.cwd)
    async with working(around) as runner:
        assert "Initialized" in await said(runner, "git init -b main", work)
        await said(runner, "echo '[core] fsmonitor = x' >>.git/config; echo x >.git/hooks/pre-commit", work)
        await said(runner, "mv .git .moved; mkdir .grokmini; echo x >.grokmini/config.toml", work)
        await said(
            runner, "echo y >.grokmini/config.toml; echo y >.grokmini/sandbox.toml; mv .grokmini g", work
        )
        assert "one" in await said(runner, f"{GIT} commit --allow-empty -m one; git switch -c side", work)
    assert "fsmonitor" not in (work / ".git/config").read_text()
    assert not (work / ".git/hooks/pre-commit").exists()
    assert (work / ".grokmini/config.toml").read_text() == "x\n", (
        "of the command that made the folder nothing is promised"
    )
    assert not (work / ".grokmini/sandbox.toml").exists()


@pytest.mark.parametrize("place", [".git/commondir", ".git/modules/deep/name/commondir"])
async def test_git_is_not_led_to_other_settings_by_a_file_that_redirects_it(tmp_path: Path, place: str) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    git(work, "submodule", "add", "-q", str(repository(tmp_path / "sub")), "deep/name")
    hostile = "cp -r .git/objects .git/refs evil/; "
    hostile += f"printf '[core]\\n\\tfsmonitor = touch {tmp_path}/ran;\\n' >evil/config"
    async with working(around) as runner:
        await said(runner, f"mkdir evil; {hostile}; echo {work}/evil >{place}; git status", work)
        (tmp_path / "ran").unlink(missing_ok=True)  # inside, it may have run
    git(work, "status")
    assert not (tmp_path / "ran").exists()
    assert not (work / place).exists()


async def test_a_redirection_that_was_there_before_is_told_and_nobodys_to_take_away(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    stray = work / ".git/commondir"
    stray.write_text("../else where\n")
    async with working(around) as runner:
        told = [line for line in (await runner.prepare()).lost if str(stray) in line]
        assert len(told) == 1
        assert "'../else where'" in told[0] and f"rm {stray}" in told[0]
        await said(runner, "echo ../evil >.git/commondir; rm .git/commondir", work)
        assert stray.read_text() == "../else where\n"
        stray.unlink()
        runner.expect(resolved(around))
        await said(runner, "true", work)
        assert str(stray) not in " ".join(runner.enforcement.lost)


async def test_a_redirection_is_taken_away_although_a_later_command_found_it_there(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    async with working(around) as runner:
        first = await runner.start(shell("echo ../evil >.git/commondir; exec sleep 300", work))
        stray = work / ".git/commondir"
        await until(lambda: stray.exists() and stray.read_text() == "../evil\n")
        assert "evil" in await said(runner, "cat .git/commondir", work)
        assert not stray.exists()
        assert "commondir" not in " ".join(runner.enforcement.lost)
        await first.kill()


KILLED = """
import asyncio, os, sys
from pathlib import Path
from tests.sandbox.resolved import around_of, resolved, working
from tests.sandbox.places import shell
from grokmini.sandbox.client import SandboxedRunner

async def main():
    around = around_of(Path(sys.argv[1]))
    runner = SandboxedRunner(resolved(around))
    script = "for f in .git .git/worktrees/third; do echo ../evil >$f/commondir; done; touch up; sleep 300"
    await runner.start(shell(script, around.cwd))
    await asyncio.sleep(300)

asyncio.run(main())
"""


async def test_a_redirection_is_taken_away_when_the_agent_is_killed_during_the_command(tmp_path: Path) -> None:
    work = repository(Path(around_of(tmp_path).cwd))
    git(work, "worktree", "add", "-q", str(tmp_path / "third"))
    strays = work / ".git/commondir", work / ".git/worktrees/third/commondir"
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT)
    try:
        await until((work / "up").exists)
        assert [path.read_text() for path in strays] == ["../evil\n"] * 2
    finally:
        process.kill()
        process.wait()
    await until(lambda: not strays[0].exists() and strays[1].exists() and strays[1].read_text() == "../..\n")


async def test_further_settings_of_worktrees_cannot_be_made_where_git_reads_them(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    git(work, "worktree", "add", "-q", str(tmp_path / "third"))
    places = [work / ".git/config.worktree", work / ".git/worktrees/third/config.worktree"]
    script = (
        f"for f in {places[0]} {places[1]}; do printf '[core]\\n\\tfsmonitor = false\\n' >$f; rm $f; done; true"
    )
    async with working(around) as runner:
        await said(runner, f"cp {work}/.git/HEAD {places[0]}; rm {places[0]}", work)
    assert [path for path in places if path.exists()] == [], "nothing is made where git reads no such file"
    git(work, "config", "extensions.worktreeConfig", "true")
    async with working(around) as runner:
        await said(runner, script, work)
        assert "two" in await said(runner, f"{GIT} commit --allow-empty -m two", work)
    assert [path.read_text() for path in places] == ["", ""]


async def test_a_linked_worktree_commits_and_cannot_be_led_elsewhere(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    main, linked = repository(tmp_path / "main"), Path(around.cwd)
    linked.rmdir()
    git(main, "worktree", "add", "-q", str(linked))
    git(main, "worktree", "add", "-q", str(tmp_path / "third"))
    inner = main / ".git/worktrees"
    async with working(around) as runner:
        assert "two" in await said(runner, f"echo a >a; git add a; {GIT} commit -m two", linked)
        script = f"echo x >{main}/.git/hooks/pre-commit; echo x >>{main}/.git/config; rm -f .git; echo x >.git"
        await said(runner, f"{script}; echo {linked}/evil >{inner}/work/commondir", linked)
        await said(runner, f"echo {linked}/evil >{inner}/third/commondir", linked)
        assert "cannot create" in await said(runner, f"echo x >{main}/other", linked)
    assert not (main / ".git/hooks/pre-commit").exists()
    assert (linked / ".git").read_text().startswith("gitdir: ")
    assert [(inner / name / "commondir").read_text() for name in ("work", "third")] == ["../..\n"] * 2
    assert git(linked, "log", "--format=%s").split() == ["two", "one"]
    assert git(tmp_path / "third", "log", "--format=%s").split() == ["one"]


async def test_a_submodule_keeps_its_settings_and_works(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    git(work, "submodule", "add", "-q", str(repository(tmp_path / "sub")), "deep/name")
    git(work, "commit", "-q", "-m", "sub")
    module = work / ".git/modules/deep/name"
    before = (module / "config").read_text(), (work / "deep/name/.git").read_text()
    async with working(around) as runner:
        text = await said(runner, f"cd deep/name && echo a >a && git add a && {GIT} commit -m two", work)
        assert "two" in text
        await said(runner, f"echo x >>{module}/config; echo x >{module}/hooks/pre-commit", work)
        await said(runner, "rm deep/name/.git; mv deep/name/.git x; mv deep away; echo x >deep/name/.git", work)
        assert "three" in await said(
            runner, f"git add deep && {GIT} commit -m three && git switch -c side", work
        )
    assert ((module / "config").read_text(), (work / "deep/name/.git").read_text()) == before
    assert not (module / "hooks/pre-commit").exists()


async def test_in_a_submodule_its_own_folder_is_written_and_no_other(tmp_path: Path) -> None:
    upper = repository(tmp_path / "upper")
    git(upper, "submodule", "add", "-q", str(repository(tmp_path / "sub")), "name")
    around = replace(around_of(tmp_path), cwd=str(upper / "name"))
    async with working(around) as runner:
        assert "two" in await said(runner, f"{GIT} commit --allow-empty -m two", around.cwd)
        await said(
            runner, f"echo x >>../.git/modules/name/config; rm .git; echo x >.git; touch {upper}/no", around.cwd
        )
    assert "gitdir" in (upper / "name/.git").read_text()
    assert "x" not in (upper / ".git/modules/name/config").read_text().split()
    assert not (upper / "no").exists()


def test_a_pointer_of_a_submodule_that_leads_elsewhere_protects_nothing(tmp_path: Path) -> None:
    work, victim = repository(tmp_path / "work"), tmp_path / "victim"
    victim.mkdir()
    (victim / ".git").write_text("gitdir: elsewhere\n")
    module = work / ".git/modules/m"
    module.mkdir(parents=True)
    (module / "config").write_text(f"[core]\n\tworktree = {victim}\n")
    assert not [path for path in git_protected(str(work)) if str(victim) in path]


def test_only_git_folders_are_put_right(tmp_path: Path) -> None:
    (tmp_path / "commondir").write_text("mine")
    assert remove_redirections(steered_folders((f"{tmp_path}/config",))) == ()
    assert (tmp_path / "commondir").exists()
