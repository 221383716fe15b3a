"""Taking away what leads git elsewhere touches nothing but that, whatever a command does meanwhile."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from grokmini.sandbox.client import SandboxedRunner
from grokmini.sandbox.profile import built_in
from grokmini.sandbox.redirections import remove_redirections
from grokmini.sandbox.resolve import resolve
from tests.sandbox.places import said
from tests.sandbox.resolved import around_of, resolved
from tests.sandbox.test_git_protected import git, repository

ROUNDS = 300


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of the person's that looks like one of git's."""
    (tmp_path / "victim/x").mkdir(parents=True)
    for name in ("commondir", "x/commondir", "x/HEAD"):
        (tmp_path / "victim" / name).write_text("mine\n")
    return tmp_path / "victim"


def unharmed(victim: Path) -> bool:
    found = sorted(path for path in victim.rglob("*") if path.is_file())
    return len(found) == 3 and all(path.read_text() == "mine\n" for path in found)


@contextmanager
def busy(work: Callable[[], None]) -> Iterator[None]:
    """Something that is done again and again in another thread."""
    over = threading.Event()

    def again() -> None:
        while not over.is_set():
            with suppress(OSError):
                work()

    thread = threading.Thread(target=again)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("place", [".git/worktrees", ".git/worktrees/x"])
def test_a_link_in_place_of_a_folder_is_taken_away_and_not_followed(
    tmp_path: Path, victim: Path, place: str
) -> None:
    work = repository(tmp_path / "work")
    (work / place).parent.mkdir(exist_ok=True)
    (work / place).symlink_to(victim if place.endswith("worktrees") else victim / "x")
    remove_redirections([f"{work}/.git"])
    assert unharmed(victim)
    assert not (work / place).is_symlink()


@pytest.mark.parametrize("place", [".git/worktrees", ".git/worktrees/x", ".git/worktrees/x/commondir", ".git"])
def test_no_file_of_the_person_is_changed_while_a_command_swaps_links_in(
    tmp_path: Path, victim: Path, place: str
) -> None:
    work = repository(tmp_path / "work")
    swapped, kept, link = work / place, tmp_path / "kept", tmp_path / "link"
    (work / ".git/worktrees/x").mkdir(parents=True)
    (work / ".git/worktrees/x/HEAD").write_text("ref: refs/heads/x\n")
    (work / ".git/worktrees/x/commondir").write_text("../evil\n")
    targets = {".git/worktrees/x": victim / "x", ".git/worktrees/x/commondir": victim / "x/commondir"}
    if place == ".git":
        (victim / "worktrees").symlink_to(".")

    def swap() -> None:
        link.symlink_to(targets.get(place, victim))
        os.rename(swapped, kept)
        os.rename(link, swapped)
        swapped.unlink(missing_ok=True)
        os.rename(kept, swapped)

    with busy(swap):
        for _ in range(ROUNDS):
            remove_redirections([f"{work}/.git"])
    assert unharmed(victim)


@pytest.mark.parametrize(
    "made", ["mkfifo {0}", "ln -s /dev/zero {0}", "mkdir {0}", "ln -s {0} {0}", "true", "cp HEAD {0}"]
)
async def test_whatever_lies_in_its_place_the_agent_goes_on_and_git_is_led_back(
    tmp_path: Path, made: str
) -> None:
    around = around_of(tmp_path)
    work = repository(Path(around.cwd))
    git(work, "worktree", "add", "-q", str(tmp_path / "third"))
    pointer = work / ".git/worktrees/third/commondir"
    runner = SandboxedRunner(
        resolved(around),
        rescan=lambda: replace(resolve(built_in("workspace"), around, explicit=False), temp=()),
    )
    try:
        await said(runner, f"cd .git/worktrees/third; rm commondir; {made.format('commondir')}", work)
        assert await said(runner, "echo on", work) == "on\n"
    finally:
        await runner.close()
    if pointer.is_dir():  # of no use to anybody
        shutil.rmtree(pointer)
        remove_redirections([f"{work}/.git"])
    assert not pointer.is_symlink() and pointer.read_text() == "../..\n"
    assert git(tmp_path / "third", "log", "--format=%s") == "one\n"
