"""Where grokmini works in `/` or the home folder, and what `TMPDIR` may make writable."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.sandbox.bwrap import bwrap_words, mounts_of
from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.probe import Mechanisms
from grokmini.sandbox.profile import built_in
from grokmini.sandbox.resolve import Around, resolve
from grokmini.sandbox.temporary import why_not_temporary
from tests.sandbox.places import machines, not_temporary, running, said

each_machine = pytest.mark.parametrize("machine", machines().values(), ids=machines().keys())


@pytest.fixture
def home() -> Iterator[Path]:
    with not_temporary() as above:
        folder = above / "home"
        for name in ("config", "state/sessions/1/scratch", "data", "cache", "proj"):
            (folder / "own" / name).mkdir(parents=True)
        (folder / "own/config/config.toml").write_text("")
        yield folder


def around_of(home: Path, cwd: Path | str, **env: str) -> Around:
    return Around(
        cwd=str(cwd),
        home=str(home),
        env={"HOME": str(home), **env},
        config=str(home / "own/config"),
        state=str(home / "own/state"),
        data=str(home / "own/data"),
        cache=str(home / "own/cache"),
        scratch=str(home / "own/state/sessions/1/scratch"),
    )


@pytest.mark.parametrize("profile", ["workspace", "strict"])
async def test_in_the_root_folder_commands_have_devices_and_our_own_settings_stay_protected(
    home: Path, profile: str
) -> None:
    policy = resolve(built_in(profile), around_of(home, "/"), explicit=True)
    async with running(policy) as runner:  # an explicit profile would be refused if anything of it were lost
        script = f"echo x >/dev/null && echo null; touch {home}/new && echo wrote; "
        script += (
            f"echo x >{home}/own/config/config.toml; touch {home}/own/state/new; mv {home}/own {home}/gone; "
        )
        script += "touch /sys/new; echo x >/proc/sys/kernel/hostname; ls /dev | wc -l"
        text = await said(runner, script, "/")
    assert text.startswith("null\nwrote\n"), text
    assert int(text.split()[-1]) < 30, "devices are the sandbox's own"
    assert (home / "own/config/config.toml").read_text() == "" and not (home / "own/state/new").exists()
    assert not any(path.startswith("//") for path in policy.protected)
    assert "/.git/hooks" in policy.protected


@each_machine
async def test_in_the_root_folder_no_command_opens_a_disk(home: Path, machine: Mechanisms) -> None:
    disks = [
        path for path in map(Path, ("/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0")) if path.exists()
    ]
    runner = SandboxedRunner(
        resolve(built_in("workspace"), around_of(home, "/"), explicit=False),
        mechanisms=machine,
        best_effort=True,
    )
    try:
        for disk in disks:
            assert "opened" not in await said(
                runner, f"[ -b {disk} ] && (: >>{disk}) 2>/dev/null && echo opened", "/"
            )
        text = await said(runner, f"touch {home}/new && echo wrote; touch /sys/kernel/new || echo kept", "/")
        assert "wrote" in text and "kept" in text
    finally:
        await runner.close()


async def test_in_the_home_folder_our_own_settings_stay_protected(home: Path) -> None:
    async with running(resolve(built_in("workspace"), around_of(home, home), explicit=True)) as runner:
        script = "touch new && echo wrote; echo x >own/config/config.toml; mv own gone; mv own/state s"
        await said(runner, script, home)
    assert (home / "new").exists() and (home / "own/config/config.toml").read_text() == ""
    assert (home / "own/state/sessions/1/scratch").is_dir()


@pytest.mark.parametrize(("where", "told"), [("/", True), ("home", True), ("home/proj", False)])
async def test_where_commands_can_write_everything_it_is_said_once(home: Path, where: str, told: bool) -> None:
    (home / "proj").mkdir()
    cwd = "/" if where == "/" else str(home / "proj" if where.endswith("proj") else home)
    async with running(resolve(built_in("workspace"), around_of(home, cwd), explicit=False)) as runner:
        notices = (await runner.prepare()).notices
    said = [
        notice for notice in notices if notice.startswith(f"Commands can write nearly everything in {cwd},")
    ]
    assert len(said) == told
    assert not resolve(built_in("read-only"), around_of(home, cwd), explicit=False).notices


def test_the_root_folder_is_mounted_below_the_devices(home: Path) -> None:
    policy = replace(resolve(built_in("workspace"), around_of(home, "/"), explicit=False), denied=())
    words = bwrap_words(policy, mounts_of(policy), "bwrap", network=True, needed=(), mask=lambda: 9)
    binds = [at for at, word in enumerate(words) if word == "--bind" and words[at + 2] == "/"]
    assert len(binds) == 1 and binds[0] < words.index("--dev")


@each_machine
@pytest.mark.parametrize("which", ["home", "above the home", "above the project", "our state", "in our state"])
async def test_a_tmpdir_that_holds_more_than_temporary_files_is_not_writable(
    home: Path, machine: Mechanisms, which: str
) -> None:
    project = home / "deep/er/proj"
    project.mkdir(parents=True)
    named = {
        "home": home,
        "above the home": home.parent,
        "above the project": home / "deep",
        "our state": home / "own/state",
        "in our state": home / "own/state/sessions",
    }[which]
    around = around_of(home, project, TMPDIR=str(named))
    async with running(resolve(built_in("workspace"), around, explicit=False), machine) as runner:
        await said(runner, f"touch {named}/new {project}/new", project)
        assert [notice for notice in runner.enforcement.notices if f"TMPDIR={named}" in notice]
    assert (project / "new").exists() and not (named / "new").exists()


def test_only_real_temporary_folders_count(home: Path) -> None:
    def why(path: str) -> str:
        return why_not_temporary(path, "/home/a", "/home/a/proj", ("/home/a/.config/grokmini",))

    for path in (
        "/",
        "/home",
        "/srv",
        "/usr",
        "/etc/x",
        "/var",
        "/var/lib/x",
        "/home/a/.config",
        "/dev",
        "/proc/1",
    ):
        assert why(path), path
    for path in (
        "/tmp/x",
        "/var/tmp/x/y",
        "/home/a/tmp",
        "/home/a/proj/tmp",
        "/dev/shm",
        "/run/user/1000/x",
        "/srv/a/t",
    ):
        assert why(path) == "", path
    with tempfile.TemporaryDirectory(dir=home) as folder:
        around = around_of(home, home / "own/proj", TMPDIR=folder)
        assert os.path.realpath(folder) in resolve(built_in("workspace"), around, explicit=False).temp
