"""A project in which pipes and endless devices lie where we read files: a session starts, answers and ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.fakes.model_server import ModelServer, call, reply
from tests.sandbox.places import not_temporary

IN_GIT = (
    "HEAD", "config", "config.worktree", "commondir", "index", "gitdir", "info/exclude", "info/attributes",
    "hooks/post-index-change", "worktrees/x/HEAD", "worktrees/x/commondir", "worktrees/x/gitdir",
    "worktrees/x/config.worktree", "modules/m/config", "modules/m/HEAD", "modules/m/commondir",
)  # fmt: skip
IN_PROJECT = (
    ".gitignore", ".ignore", ".rgignore", ".gitattributes", ".gitmodules", "AGENTS.md", "CLAUDE.md", ".env",
    ".grokmini/config.toml", "sub/.gitignore", "sub/AGENTS.md", "sub/notes.txt",
)  # fmt: skip
CALLS = (
    call("run_terminal_command", call_id="c1", command="echo out"),
    call("list_dir", call_id="c2", target_directory="."),
    call("read_file", call_id="c3", target_file="AGENTS.md"),
    call("run_terminal_command", call_id="c4", command="echo still"),
)


@pytest.fixture
def place(fresh_home: Path) -> Iterator[Place]:
    with not_temporary() as folder:
        (folder / "project/sub").mkdir(parents=True)
        (folder / "home").mkdir()
        yield Place(folder / "home", folder / "project")


def put(kind: str, path: Path) -> None:
    """A pipe that nobody writes, or a link to a device that never ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("git", ["folder", "file", "worktree", "broken"])
@pytest.mark.parametrize("folder", ["", "sub"])
def test_a_session_starts_answers_and_ends(place: Place, kind: str, git: str, folder: str) -> None:
    dot = place.project / ".git"
    inner = place.home.parent / "main/.git/worktrees/x" if git == "worktree" else dot
    if git == "file":
        put(kind, dot)
    else:
        (inner / "objects").mkdir(parents=True)
        (inner / "refs").mkdir()
        for name in IN_GIT:
            if git == "broken" or name != "HEAD":
                put(kind, inner / name)
    if git == "folder":
        (dot / "HEAD").write_text("ref: refs/heads/main\n")
    if git == "worktree":
        dot.write_text(f"gitdir: {inner}\n")
        (inner / "HEAD").write_text("ref: refs/heads/main\n")
    for name in IN_PROJECT:
        put(kind, place.project / name)
    script = [*(reply(calls=[one]) for one in CALLS), reply("done")]
    with ModelServer(script, strict=True) as server:
        at = Place(place.home, place.project / folder)
        done = at.run("-p", "go", "--sandbox", "workspace", "--yolo", server=server)
        assert done.returncode == 0, done.stderr
        items = server.bodies[-1]["messages"]
    told = {each["tool_call_id"]: each["content"] for each in items if "tool_call_id" in each}
    assert "out" in told["c1"] and "still" in told["c4"], told


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_profiles_that_cannot_be_read_stop_the_start(place: Place, kind: str) -> None:
    put(kind, place.project / ".grokmini/sandbox.toml")
    with ModelServer([reply("done")]) as server:
        done = place.run("-p", "go", "--sandbox", "workspace", server=server)
    assert done.returncode != 0 and "sandbox.toml cannot be read: not a regular file" in done.stderr
