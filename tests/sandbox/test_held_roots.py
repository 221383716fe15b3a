"""A folder that commands can write stays the one it was: no command leads the next one elsewhere by its name."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from grokmini.protocol.errors import SandboxError
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.file_guard import FileGuard, FileRefusedError
from grokmini.sandbox.policy import Policy
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.profile import Profile, built_in
from grokmini.sandbox.resolve import Around, make_folders, resolve
from grokmini.sandbox.roots import open_roots
from tests.sandbox.places import machines, not_temporary, said

WORKSPACE = built_in("workspace")
each_machine = pytest.mark.parametrize("machine", machines().values(), ids=machines().keys())


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that no profile lets commands write, with a `victim` in it."""
    with not_temporary() as folder:
        (folder / "victim").mkdir()
        yield folder


def around_of(home: Path, cwd: Path, *, temp: Path | None = None, cache: Path | None = None) -> Around:
    for folder in (home, cwd, *filter(None, (temp, cache)), home / "config", home / "state", home / "data"):
        folder.mkdir(parents=True, exist_ok=True)
    return Around(
        cwd=str(cwd),
        home=str(home),
        env={"HOME": str(home), **({"TMPDIR": str(temp)} if temp else {})},
        config=str(home / "config"),
        state=str(home / "state"),
        data=str(home / "data"),
        cache=str(cache) if cache else "",
        scratch=str(home / "state/sessions/1/scratch"),
    )


@asynccontextmanager
async def confining(
    around: Around, machine: Mechanisms, profile: Profile = WORKSPACE
) -> AsyncIterator[SandboxedRunner]:
    """A runner as a session has it: the profile is looked at anew before each command."""

    def now() -> Policy:
        return resolve(profile, around, explicit=False)

    policy = now()
    make_folders(policy)
    runner = SandboxedRunner(policy, mechanisms=machine, rescan=now, best_effort=True)
    try:
        yield runner
    finally:
        await runner.close()


class Attack(NamedTuple):
    """What the first command does with the link that is to lead to the victim, and where the second then writes."""

    around: Around
    script: str
    target: Path
    profile: Profile = WORKSPACE
    refused: bool = False
    """Whether the next command is refused, where the first one had its way."""


def attack_on(kind: str, home: Path, base: Path) -> Attack:
    victim = home / "victim"
    if kind == "the folder above the project":
        cwd = base / "a/b/proj"
        script = f"cd {base} && mv a a2 && mkdir -p a/b && ln -s {victim} a/b/proj"
        return Attack(around_of(home, cwd), script, cwd, refused=True)
    if kind == "the project":
        cwd = base / "p/proj"
        (cwd / ".git/objects").mkdir(parents=True)
        script = f"cd {base}/p && mv proj p2 && ln -s {victim} proj"
        return Attack(around_of(home, cwd), script, cwd, refused=True)
    if kind == "a folder below a root of one's own":
        cwd = home / "w/p/proj"
        profile = Profile("mine", "workspace", write=(str(home / "w"),))
        script = f"cd {home}/w && mv p p2 && mkdir p && ln -s {victim} p/proj"
        return Attack(around_of(home, cwd), script, cwd, profile, refused=True)
    if kind == "the temporary folder":
        temp = base / "t/u"
        script = f"cd {base} && mv t t2; mkdir t; ln -s {victim} t/u"
        return Attack(around_of(home, home / "proj", temp=temp), script, temp)
    if kind == "a cache":
        cache = base / "c/grokmini"
        script = f"cd {cache}/tools && mv pip pip2 && ln -s {victim} pip"
        return Attack(around_of(home, home / "proj", cache=cache), script, cache / "tools/pip")
    if kind == "the caches in the project":
        cwd = home / "proj"
        script = f"cd {cwd}/.g && mv cache cache2; mkdir -p cache/tools; ln -s {victim} cache/tools/pip"
        return Attack(around_of(home, cwd, cache=cwd / ".g/cache"), script, cwd / ".g/cache/tools/pip")
    assert kind == "a root of one's own that is not there"
    cwd = home / "proj"
    profile = Profile("mine", "workspace", write=("build-out",))
    return Attack(
        around_of(home, cwd), f"rmdir build-out; ln -s {victim} build-out", cwd / "build-out", profile
    )


KINDS = (
    "the folder above the project",
    "the project",
    "a folder below a root of one's own",
    "the temporary folder",
    "a cache",
    "the caches in the project",
    "a root of one's own that is not there",
)


def may_write(runner: SandboxedRunner, folder: Path) -> bool:
    """Whether the file tools may make a file in the folder, wherever that leads."""
    opened = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        FileGuard(lambda: runner.policy).check_write(opened, "by-tool")
    except FileRefusedError:
        return False
    finally:
        os.close(opened)
    return True


@each_machine
@pytest.mark.parametrize("kind", KINDS)
async def test_a_writable_folder_made_a_link_leads_neither_command_nor_tool_elsewhere(
    tmp_path: Path, home: Path, machine: Mechanisms, kind: str
) -> None:
    attack = attack_on(kind, home, tmp_path)
    victim = home / "victim"
    async with confining(attack.around, machine, attack.profile) as runner:
        await said(runner, attack.script, attack.around.cwd)
        linked = os.path.realpath(attack.target) == str(victim)
        for _ in range(2):
            try:
                await said(
                    runner, f"echo x >{attack.target}/by-command; echo x >{victim}/straight", attack.around.cwd
                )
            except SandboxError as error:
                assert linked and attack.refused, error
                assert str(attack.target) in error.message and "/cd" in error.hint
            else:
                assert not (linked and attack.refused)
            assert not (linked and may_write(runner, attack.target))
        assert not may_write(runner, victim)
        assert os.listdir(victim) == []
        assert linked or machine.bwrap or kind == "a root of one's own that is not there", "the attack is none"


@each_machine
async def test_what_is_left_out_since_it_became_a_link_is_told_and_comes_back_with_the_folder(
    tmp_path: Path, home: Path, machine: Mechanisms
) -> None:
    temp = tmp_path / "t/u"
    around = around_of(home, home / "proj", temp=temp)
    async with confining(around, machine) as runner:
        await runner.prepare()
        assert not runner.enforcement.notices
        temp.rename(tmp_path / "kept")
        temp.symlink_to(home / "victim")
        await said(runner, "true", around.cwd)
        (notice,) = runner.enforcement.notices
        assert str(temp) in notice and "link" in notice
        temp.unlink()
        (tmp_path / "kept").rename(temp)
        await said(runner, f"echo x >{temp}/new", around.cwd)
        assert (temp / "new").exists() and not runner.enforcement.notices


@each_machine
async def test_a_project_made_anew_at_its_place_is_worked_in_as_before(
    tmp_path: Path, home: Path, machine: Mechanisms
) -> None:
    cwd = home / "deep/proj"
    around = around_of(home, cwd)
    async with confining(around, machine) as runner:
        await said(runner, "echo x >first", cwd)
        cwd.rename(home / "old")
        cwd.mkdir()
        await said(runner, "echo x >second", cwd)
        assert os.listdir(cwd) == ["second"] and may_write(runner, cwd)
        (home / "deep").rename(home / "deeper")
        (home / "deep").symlink_to(home / "deeper")
        with pytest.raises(SandboxError, match="deep") as refused:
            await said(runner, "echo x >third", cwd)
        assert str(home / "deeper/proj") in refused.value.message
        (home / "deep").unlink()
        (home / "deeper").rename(home / "deep")
        await said(runner, "echo x >fourth", cwd)
        assert (cwd / "fourth").exists()


async def test_no_folder_above_a_writable_one_is_renamed_within_a_command(tmp_path: Path, home: Path) -> None:
    cwd = tmp_path / "a/b/proj"
    temp = tmp_path / "t/u/v"
    around = around_of(home, cwd, temp=temp, cache=tmp_path / "c/ours")
    profile = Profile("mine", "workspace", write=(str(tmp_path / "w/x/y"),))
    async with confining(around, machines()["all"], profile) as runner:
        folders = [
            tmp_path / name for name in ["a", "a/b", "t", "t/u", "c", "c/ours", "c/ours/tools", "w", "w/x"]
        ]
        before = [folder.stat().st_ino for folder in folders]
        program = "import os, sys\nfor f in sys.argv[1:]:\n try: os.rename(f, f + '2')\n except OSError: print('kept')"
        words = " ".join(map(str, folders))
        text = await said(runner, f'python3 -c "{program}" {words}', cwd)
        assert text == "kept\n" * len(folders)
        assert [folder.stat().st_ino for folder in folders] == before


@each_machine
async def test_a_root_of_ones_own_that_is_not_there_is_made_at_the_start(
    tmp_path: Path, home: Path, machine: Mechanisms
) -> None:
    around = around_of(home, home / "proj")
    profile = Profile("mine", "workspace", write=(str(home / "out/deep"), "build-out"))
    async with confining(around, machine, profile) as runner:
        await said(runner, f"echo x >{home}/out/deep/new; echo x >build-out/new", around.cwd)
        assert (home / "out/deep/new").exists() and (home / "proj/build-out/new").exists()


def test_a_link_where_commands_write_is_not_followed_at_the_start_and_elsewhere_it_is(home: Path) -> None:
    around = around_of(home, home / "proj")
    (home / "proj/link").symlink_to(home / "victim")
    (home / "build").symlink_to(home / "victim")
    policy = resolve(Profile("mine", "workspace", write=("link",)), around, explicit=False)
    assert str(home / "victim") not in policy.write_roots
    assert any(str(home / "proj/link") in notice for notice in policy.notices)
    policy = resolve(Profile("mine", "workspace", write=(str(home / "build"),)), around, explicit=False)
    assert str(home / "victim") in policy.write_roots and not policy.notices


def test_a_read_root_that_commands_made_a_link_is_not_followed(home: Path) -> None:
    around = around_of(home, home / "proj")
    (home / "proj/docs").symlink_to(home / "victim")
    policy = resolve(Profile("mine", "strict", read=("docs",)), around, explicit=False)
    assert str(home / "victim") not in policy.read_roots
    around = replace(around, env={**around.env, "PATH": f"/usr/bin:{home}/proj/docs"})
    assert str(home / "victim") not in resolve(built_in("strict"), around, explicit=False).read_roots


def test_a_root_that_is_not_there_or_that_a_link_leads_to_is_not_opened(tmp_path: Path) -> None:
    root = tmp_path / "a/root"
    root.mkdir(parents=True)
    opened = open_roots((str(root), str(tmp_path / "absent")))
    assert {path: os.fstat(fd).st_ino for path, fd in opened.items()} == {str(root): root.stat().st_ino}
    for fd in opened.values():
        os.close(fd)
    (tmp_path / "a").rename(tmp_path / "a2")
    (tmp_path / "a").symlink_to(tmp_path / "a2")
    (tmp_path / "link").symlink_to(root)
    assert open_roots((str(root), str(tmp_path / "link"))) == {}
