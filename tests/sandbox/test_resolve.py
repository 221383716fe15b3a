"""A profile on a machine: roots, protected and denied paths."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.environment import profile_environment
from grokmini.sandbox.git_folders import git_folders, git_protected, git_roots
from grokmini.sandbox.profile import Profile, built_in
from grokmini.sandbox.resolve import Around, make_folders, resolve
from grokmini.sandbox.secrets import secret_paths
from tests.sandbox.places import machines, not_temporary, running, said


def _around(tmp_path: Path) -> Around:
    for name in ("home", "work", "ours/config", "ours/state"):
        (tmp_path / name).mkdir(parents=True)
    ours = tmp_path / "ours"
    return Around(
        cwd=str(tmp_path / "work"),
        home=str(tmp_path / "home"),
        env={"HOME": str(tmp_path / "home")},
        config=str(ours / "config"),
        state=str(ours / "state"),
        cache=str(ours / "cache"),
        scratch=str(ours / "state/sessions/1/scratch"),
    )


def _git(folder: Path, *words: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *names, *words], cwd=folder, check=True, capture_output=True)


def test_workspace_writes_the_folder_and_not_what_steers_git_or_us(tmp_path: Path) -> None:
    around = _around(tmp_path)
    policy = resolve(built_in("workspace"), around, explicit=False)
    assert policy.read_all and not policy.write_all and policy.network == "open"
    assert policy.write_roots == (around.cwd,)
    assert {f"{around.cwd}/.git/hooks", f"{around.cwd}/.git/config", f"{around.cwd}/.grokmini"} <= set(
        policy.protected
    )
    assert {around.config, around.state} <= set(policy.protected)


def test_strict_reads_no_home_and_none_of_our_own_folders(tmp_path: Path) -> None:
    around = _around(tmp_path)
    around = replace(around, env={**around.env, "PATH": f"/usr/bin:{around.home}:{around.config}"})
    policy = resolve(built_in("strict"), around, explicit=True)
    assert not policy.read_all and policy.network == "blocked" and policy.explicit
    assert around.home not in policy.read_roots and around.config not in policy.read_roots
    assert "/usr" in policy.read_roots and around.cwd in policy.read_roots


async def test_under_strict_git_knows_its_settings_and_nothing_else_of_the_home_is_there(
    tmp_path: Path,
) -> None:
    around = replace(_around(tmp_path), scratch="", cache="")
    home = Path(around.home)
    (home / "dotfiles").mkdir()
    (home / "dotfiles/git").write_text("[user]\nname = Someone\n")
    (home / ".gitconfig").symlink_to("dotfiles/git")
    (home / "private").touch()
    policy = resolve(built_in("strict"), around, explicit=False)
    for machine in machines().values():
        async with running(replace(policy, temp=()), machine) as runner:
            command = f"export HOME={home}; git config user.name; cat $HOME/private"
            assert (await said(runner, command, around.cwd)).startswith("Someone\ncat: ")


_TOOL = "#!/bin/sh\necho ran $0\n"


async def test_under_strict_what_may_be_used_is_found_by_the_names_that_people_know_it_by() -> None:
    with not_temporary() as folder:
        for name in ("work", "disk/home/.local/bin", "disk/nvm/versions/bin", "disk/books", "disk/other"):
            (folder / name).mkdir(parents=True)
        home = folder / "home"
        home.symlink_to("disk/home")
        (home / ".nvm").symlink_to(folder / "disk/nvm")
        (home / "books").symlink_to("../books")
        (home / "other").symlink_to("../other")
        (folder / "disk/books/one").write_text("a book\n")
        tools = [home / ".local/bin/tool", home / ".nvm/versions/bin/tool"]
        for tool in tools:
            tool.write_text(_TOOL)
            tool.chmod(0o755)
        around = Around(str(folder / "work"), str(home), {"PATH": f"{home}/.local/bin:/usr/bin"})
        profile = Profile("own", "strict", read=("~/books",))
        command = f"{tools[0]}; {tools[1]}; cat {home}/books/one; ls {home}/other/ 2>/dev/null; ls {home}/"
        policy = resolve(profile, around, explicit=False)
        assert f"{folder}/disk/home/other" not in policy.links
        for machine in machines().values():
            async with running(policy, machine) as runner:
                shown = await said(runner, command, around.cwd)
                assert shown.startswith(f"ran {tools[0]}\nran {tools[1]}\na book\nls: "), shown


async def test_under_strict_a_link_that_a_command_may_have_made_is_not_shown() -> None:
    with not_temporary() as folder:
        for name in ("work", "secret"):
            (folder / name).mkdir()
        (folder / "work/books").symlink_to(folder / "secret")
        around = Around(str(folder / "work"), str(folder), {"PATH": f"{folder}/work/books:/usr/bin"})
        policy = resolve(Profile("own", "strict", read=("books",)), around, explicit=False)
        assert not [link for link in policy.links if link.startswith(str(folder))]


def test_strict_reads_toolchains_with_what_their_shims_look_for_and_no_keys_beside_them(tmp_path: Path) -> None:
    around = _around(tmp_path)
    for name in (".pyenv/libexec", ".asdf/lib", ".local/share/uv/tools", ".local/share/uv/credentials"):
        (Path(around.home) / name).mkdir(parents=True)
    roots = resolve(built_in("strict"), around, explicit=False).read_roots
    assert {f"{around.home}/{name}" for name in (".pyenv", ".asdf", ".local/share/uv/tools")} <= set(roots)
    assert not any("credentials" in root or root.endswith("/uv") for root in roots)


def test_read_only_does_not_write_the_folder_even_where_it_lies_in_a_temporary_one(tmp_path: Path) -> None:
    around = replace(_around(tmp_path), env={"TMPDIR": str(tmp_path)})
    policy = resolve(built_in("read-only"), around, explicit=False)
    assert around.cwd not in policy.write_roots and around.cwd in policy.protected


async def test_under_read_only_nothing_of_a_repository_in_a_temporary_folder_is_written(tmp_path: Path) -> None:
    around = replace(_around(tmp_path), env={"TMPDIR": str(tmp_path)}, scratch="", cache="")
    _git(Path(around.cwd), "init")
    (Path(around.cwd) / ".grokmini").mkdir()
    async with running(resolve(built_in("read-only"), around, explicit=False)) as runner:
        touched = (
            "touch new; for d in . .git .git/refs .git/hooks .grokmini; do touch $d/new; mkdir $d/more; done"
        )
        await said(runner, f"touch ../beside; {touched} 2>/dev/null", around.cwd)
    assert (tmp_path / "beside").exists()
    assert [path for path in Path(around.cwd).rglob("*") if path.name in ("new", "more")] == []


def test_a_profile_cannot_open_our_own_folders(tmp_path: Path) -> None:
    around = _around(tmp_path)
    with pytest.raises(SandboxError):
        resolve(Profile("a", "workspace", write=(around.config,)), around, explicit=True)


@pytest.mark.parametrize("path", ["/proc", "/proc/sys", "/sys", "/dev", "/dev/null"])
def test_a_profile_cannot_open_what_is_the_kernels(tmp_path: Path, path: str) -> None:
    with pytest.raises(SandboxError, match=f"cannot open {path}: it is the kernel's"):
        resolve(Profile("a", "workspace", write=(path,)), _around(tmp_path), explicit=True)


def test_a_profile_cannot_add_the_whole_disk_to_what_strict_reads(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="whole disk"):
        resolve(Profile("a", "strict", read=("/",)), _around(tmp_path), explicit=True)


def test_a_profile_may_open_the_shared_memory_of_the_machine(tmp_path: Path) -> None:
    policy = resolve(Profile("a", "workspace", write=("/dev/shm",)), _around(tmp_path), explicit=True)
    assert "/dev/shm" in policy.write_roots


@pytest.mark.parametrize("path", [".", "..", "../*", "~/../work", "/", "/usr", "/proc", "/dev", "/dev/null"])
def test_what_every_command_needs_cannot_be_denied(tmp_path: Path, path: str) -> None:
    with pytest.raises(SandboxError, match="what every command needs"):
        resolve(Profile("a", "workspace", deny=(path,)), _around(tmp_path), explicit=True)


def test_denied_globs_are_looked_up_anew_each_time(tmp_path: Path) -> None:
    around = _around(tmp_path)
    profile = Profile("a", "workspace", deny=("*.pem",))
    assert not [path for path in resolve(profile, around, explicit=False).denied if str(tmp_path) in path]
    key = Path(around.cwd) / "sub" / "late.pem"
    key.parent.mkdir()
    key.touch()
    policy = resolve(profile, around, explicit=False)
    assert str(key) in policy.denied and policy.explicit


def test_private_keys_are_masked_and_what_git_and_ssh_need_is_not(tmp_path: Path) -> None:
    ssh = tmp_path / ".ssh"
    ssh.mkdir()
    (ssh / "work").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    for name in ("work.pub", "known_hosts", "config"):
        (ssh / name).write_text("ssh-ed25519 AAAA\n")
    (tmp_path / ".npmrc").write_text("color=false\n")
    (tmp_path / ".netrc").write_text("machine x\n")
    found = secret_paths(str(tmp_path), {}, ())
    assert {path for path in found if path.startswith(str(tmp_path))} == {
        str(ssh / "work"),
        str(tmp_path / ".netrc"),
    }
    (tmp_path / ".npmrc").write_text("//registry/:_authToken=x\n")
    assert str(tmp_path / ".npmrc") in secret_paths(str(tmp_path), {}, ())


def test_caches_of_package_managers_are_our_own_and_made_when_needed(tmp_path: Path) -> None:
    around = _around(tmp_path)
    policy = resolve(built_in("workspace"), around, explicit=False)
    make_folders(policy)
    env = profile_environment(built_in("workspace"), around.cache)
    assert env["GOCACHE"] in policy.caches and Path(env["GOMODCACHE"]).is_relative_to(env["GOCACHE"])
    assert env["PIP_CACHE_DIR"] in policy.caches and Path(env["PIP_CACHE_DIR"]).is_dir()
    assert Path(policy.scratch).is_dir()
    assert profile_environment(built_in("off"), around.cache) == {}


def test_a_linked_worktree_may_write_the_shared_repository_but_not_its_hooks(tmp_path: Path) -> None:
    main, linked = tmp_path / "main", tmp_path / "linked"
    main.mkdir()
    _git(main, "init")
    _git(main, "commit", "--allow-empty", "-m", "x")
    _git(main, "worktree", "add", str(linked))
    assert git_roots(str(linked)) == (str(main / ".git"),)
    assert {str(main / ".git/hooks"), str(main / ".git/config")} <= set(git_protected(str(linked)))


def test_a_git_file_that_its_target_does_not_know_opens_nothing(tmp_path: Path) -> None:
    victim, hostile = tmp_path / "victim", tmp_path / "hostile"
    victim.mkdir()
    hostile.mkdir()
    _git(victim, "init")
    (hostile / ".git").write_text(f"gitdir: {victim}/.git\n")
    assert git_folders(str(hostile)) == ()


def test_below_the_repositorys_root_commits_still_work(tmp_path: Path) -> None:
    _git(tmp_path, "init")
    (tmp_path / "sub").mkdir()
    assert git_roots(str(tmp_path / "sub")) == (str(tmp_path / ".git"),)
