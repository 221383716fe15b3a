"""Hooks that settings of the person name, repositories that no index names, and those that name objects otherwise."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.files.git_settings import gitlinks
from grokmini.sandbox.git_folders import git_besides
from grokmini.sandbox.nested import repositories_in
from grokmini.sandbox.profile import Profile
from grokmini.sandbox.resolve import Around
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, resolved, working
from tests.sandbox.test_git_protected import GIT, git, repository

HOOK = "mkdir -p {0}; echo x >{0}/pre-commit; mv {0} moved"


def with_hooks(root: Path, file: str, hooks: str, env: dict[str, str] | None = None) -> Around:
    """A project with a folder of hooks and settings of the person that name it."""
    around = around_of(root, env)
    work = repository(Path(around.cwd))
    (work / "githooks").mkdir()
    (work / "githooks/pre-push").write_text("#!/bin/sh\n")
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(f"[core]\n\thooksPath = {hooks.format(root=root)}\n")
    return around


@pytest.mark.parametrize(
    ("file", "hooks", "env"),
    [
        ("home/.gitconfig", "githooks", {}),
        ("home/.gitconfig", "./githooks/", {}),
        ("home/.gitconfig", "{root}/work/githooks", {}),
        ("home/.config/git/config", "githooks", {}),
        ("settings/git/config", "githooks", {"XDG_CONFIG_HOME": "{root}/settings"}),
        ("named", "githooks", {"GIT_CONFIG_GLOBAL": "{root}/named"}),
        ("machine", "githooks", {"GIT_CONFIG_SYSTEM": "{root}/machine"}),
    ],
)
async def test_no_command_writes_hooks_that_settings_of_the_person_name(
    tmp_path: Path, file: str, hooks: str, env: dict[str, str]
) -> None:
    named = {name: value.format(root=tmp_path) for name, value in env.items()}
    around = with_hooks(tmp_path, file, hooks, named)
    work = Path(around.cwd)
    async with working(around) as runner:
        await said(runner, HOOK.format("githooks"), work)
        assert "two" in await said(runner, f"{GIT} -c core.hooksPath= commit --allow-empty -m two", work)
    assert [path.name for path in (work / "githooks").iterdir()] == ["pre-push"]


async def test_settings_that_those_of_the_person_include_count_too(tmp_path: Path) -> None:
    around = with_hooks(tmp_path, "home/more.inc", "githooks")
    (tmp_path / "home/.gitconfig").write_text("[include]\n\tpath = more.inc\n")
    protected = resolved(around).protected
    assert f"{around.cwd}/githooks" in protected
    assert f"{around.home}/more.inc" not in protected, "it lies where no command writes"


async def test_hooks_that_a_command_makes_where_settings_name_them_are_told_and_kept(tmp_path: Path) -> None:
    around = with_hooks(tmp_path, "home/.gitconfig", "later")
    calls: list[str] = []
    async with working(around, told=lambda: calls.append("told")) as runner:
        await said(runner, "true", around.cwd)
        before = len(calls)
        await said(runner, "mkdir later; echo x >later/pre-commit", around.cwd)
        (text,) = [text for text in runner.enforcement.notices if f"{around.cwd}/later is there since" in text]
        assert "by git" in text and len(calls) > before
        await said(runner, "echo y >later/pre-commit", around.cwd)
        assert len([text for text in runner.enforcement.notices if "is there since" in text]) == 1
    assert Path(around.cwd, "later/pre-commit").read_text() == "x\n"


async def test_settings_of_ours_that_a_command_makes_are_told(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    async with working(around) as runner:
        await said(runner, "git init -q; mkdir .grokmini; echo x >.grokmini/config.toml", around.cwd)
        told = [text for text in runner.enforcement.notices if "is there since" in text]
    assert len(told) == 1 and f"{around.cwd}/.grokmini" in told[0] and "next session" in told[0]


def nested_in(around: Around) -> Around:
    """As a session begins: with what lies there before any command."""
    return replace(around, nested=git_besides(repositories_in(around.cwd), around.home, around.env))


@pytest.mark.parametrize("top", [True, False], ids=["in a repository", "in none"])
@pytest.mark.parametrize("place", ["one", "group/two"])
async def test_repositories_of_the_person_in_the_folder_keep_their_hooks_and_settings(
    tmp_path: Path, top: bool, place: str
) -> None:
    around = around_of(tmp_path)
    work = Path(around.cwd)
    if top:
        repository(work)
    inner = repository(work / place)
    before = (inner / ".git/config").read_text()
    hostile = "git config core.fsmonitor x; echo x >>.git/config; echo x >.git/hooks/pre-commit"
    async with working(nested_in(around)) as runner:
        await said(runner, f"cd {place}; {hostile}; mv .git g; cd ..; mv {inner.name} moved", work)
        await said(runner, f"cd {place}; echo ../evil >.git/commondir", work)
        committed = await said(runner, f"cd {place}; touch new; git add new; {GIT} commit -m two", work)
    assert "two" in committed
    assert (inner / ".git/config").read_text() == before
    assert not (inner / ".git/hooks/pre-commit").exists() and not (inner / ".git/commondir").exists()


async def test_a_repository_that_a_command_makes_below_the_folder_is_its_own_to_settle(tmp_path: Path) -> None:
    around = nested_in(around_of(tmp_path))
    repository(Path(around.cwd))
    async with working(around) as runner:
        await said(runner, "git init -q made", around.cwd)
        made = "cd made; git config user.name x; git remote add o ../x && cd .. && rm -r made && echo gone"
        assert await said(runner, made, around.cwd) == "gone\n"


def test_what_tools_fill_and_links_and_what_lies_deep_are_not_looked_for(tmp_path: Path) -> None:
    for place in ("node_modules/a", "build/b", ".cache/c", "one/two/three", "real"):
        (tmp_path / place / ".git").mkdir(parents=True)
        (tmp_path / place / ".git/HEAD").touch()
    (tmp_path / "linked").symlink_to("real")
    (tmp_path / "worktree").mkdir()
    (tmp_path / "worktree/.git").write_text("gitdir: ../real/.git/worktrees/worktree\n")
    assert repositories_in(str(tmp_path)) == (str(tmp_path / "real"),)
    assert repositories_in(str(tmp_path / "none")) == ()


def test_a_folder_with_very_many_entries_is_not_looked_through(tmp_path: Path) -> None:
    for number in range(2_100):
        (tmp_path / "many" / str(number)).mkdir(parents=True)
    first, last = os.listdir(tmp_path / "many")[::2_099]
    for name in (first, last):
        repository(tmp_path / "many" / name)
    assert repositories_in(str(tmp_path)) == (f"{tmp_path}/many/{first}",)


async def test_a_repository_that_a_profile_opens_keeps_its_hooks_and_settings(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    other = repository(tmp_path / "other")
    before = (other / ".git/config").read_text()
    async with working(around, Profile("mine", "workspace", write=(str(other),))) as runner:
        await said(
            runner, "touch new; echo x >>.git/config; echo x >.git/hooks/pre-commit; git config a.b c", other
        )
    assert (other / "new").exists()
    assert (other / ".git/config").read_text() == before
    assert not (other / ".git/hooks/pre-commit").exists()


def other_hash(folder: Path) -> Path:
    git(folder, "init", "-q", "-b", "main", "--object-format=sha256")
    git(folder, "commit", "-q", "--allow-empty", "-m", "one")
    return folder


@pytest.mark.parametrize("version", ["2", "4"])
async def test_a_repository_with_the_longer_hash_is_kept_with_those_that_its_index_names(
    tmp_path: Path, version: str
) -> None:
    around = around_of(tmp_path)
    work = other_hash(Path(around.cwd))
    git(work, "config", "index.version", version)
    for name in ("aa", "ab", "sub/inner", "zz"):
        (work / name).parent.mkdir(exist_ok=True)
        (work / name).touch()
    git(work, "add", "aa", "ab", "zz")
    inner = other_hash(work / "deep/er")
    git(work, "add", "deep/er")
    assert gitlinks(work / ".git/index") == ["deep/er"]
    before = (inner / ".git/config").read_text()
    async with working(around) as runner:
        await said(runner, "git -C deep/er config core.fsmonitor x; echo x >deep/er/.git/hooks/h", work)
        assert "two" in await said(runner, f"{GIT} commit -m two", work)
    assert (inner / ".git/config").read_text() == before
    assert not (inner / ".git/hooks/h").exists()


def test_a_worktree_of_a_repository_with_the_longer_hash_names_its_submodules(tmp_path: Path) -> None:
    work = other_hash(tmp_path / "work")
    other_hash(work / "sub")
    git(work, "add", "sub")
    git(work, "commit", "-qm", "two")
    git(work, "worktree", "add", "-q", "../linked")
    assert gitlinks(work / ".git/worktrees/linked/index") == ["sub"]


@pytest.mark.parametrize(
    "settings", ['[extensions "x"]\n\tobjectFormat = sha256\n', "[extensions]\n\tobjectFormat = md5\n"]
)
def test_an_index_that_is_not_as_its_settings_say_is_no_index_without_submodules(
    tmp_path: Path, settings: str
) -> None:
    work = repository(tmp_path / "work")
    repository(work / "sub")
    git(work, "add", "sub")
    assert gitlinks(work / ".git/index") == ["sub"]
    with (work / ".git/config").open("a") as file:
        file.write(settings)
    with pytest.raises(OSError, match="unknown form"):
        gitlinks(work / ".git/index")
