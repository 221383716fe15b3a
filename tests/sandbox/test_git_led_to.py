"""Files that a repository's settings include, and the folder of hooks they name, are kept as the settings are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, resolved, working
from tests.sandbox.test_git_protected import git, repository

WAYS = {
    "a file beside": ("include.path", "../project.inc", "project.inc"),
    "a file under a condition": ("includeIf.onbranch:side.path", "../project.inc", "project.inc"),
    "a file below the home folder": ("include.path", "~/project.inc", "home/project.inc"),
    "a file by its whole path": ("include.path", "{work}/deep/project.inc", "deep/project.inc"),
    "a file that is included by one": ("include.path", "../first.inc", "deep/project.inc"),
    "a folder of hooks": ("core.hooksPath", ".hooks", ".hooks/post-index-change"),
}


@pytest.mark.parametrize(("key", "value", "target"), WAYS.values(), ids=WAYS.keys())
async def test_no_command_writes_what_settings_lead_git_to(
    tmp_path: Path, key: str, value: str, target: str
) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    around = replace(around, home=str(work / "home"))
    file = work / target
    file.parent.mkdir(exist_ok=True)
    file.write_text("# mine\n")
    (work / "first.inc").write_text("[include]\n\tpath = deep/project.inc\n")
    git(work, "config", key, value.format(work=work))
    async with working(around) as runner:
        ran = await said(
            runner, f"echo x >>{file}; mv {file.parent} {file.parent}2; echo y >ordinary; ls", work
        )
    assert file.read_text() == "# mine\n"
    assert "ordinary" in ran


async def test_what_was_not_there_is_kept_from_the_next_command_on(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    git(work, "config", "include.path", "../later.inc")
    async with working(around) as runner:
        await said(runner, "echo '# first' >later.inc", work)
        await said(runner, "echo '# second' >>later.inc", work)
    assert (work / "later.inc").read_text() == "# first\n"


def test_paths_of_other_homes_and_circles_protect_nothing(tmp_path: Path) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    (work / "a.inc").write_text("[include]\npath = a.inc\npath = ~other/x\npath = %(prefix)/y\npath =\n")
    git(work, "config", "include.path", "../a.inc")
    named = [path for path in resolved(around).protected if path.endswith((".inc", "x", "y"))]
    assert named == [f"{work}/a.inc"]


@pytest.mark.parametrize("hooks", [".", "..", "/"])
async def test_hooks_right_in_the_project_do_not_close_it(tmp_path: Path, hooks: str) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    git(work, "config", "core.hooksPath", hooks)
    async with working(around) as runner:
        assert await said(runner, "echo x >made && cat made", work) == "x\n"
