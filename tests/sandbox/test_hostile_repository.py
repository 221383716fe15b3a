"""A repository whose settings name programs is opened and worked in, and none of them is run by us."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pexpect
import pytest

from tests.e2e.program import Place
from tests.fakes.model_server import ModelServer, call, reply

CONFIG = """
[core]
    repositoryformatversion = 0
    bare = false
    fsmonitor = {ran}/fsmonitor
    hooksPath = {hooks}
    pager = {ran}/pager
    editor = {ran}/editor
    sshCommand = {ran}/ssh
    askPass = {ran}/askpass
    attributesFile = {folder}/attributes
[alias]
    status = !{ran}/alias-status
    log = !{ran}/alias-log
    st = !{ran}/alias
[filter "evil"]
    clean = {ran}/clean
    smudge = {ran}/smudge
    process = {ran}/process
    required = true
[diff]
    external = {ran}/external
[diff "evil"]
    command = {ran}/diff
    textconv = {ran}/textconv
[merge "evil"]
    driver = {ran}/merge
[gpg]
    program = {ran}/gpg
[commit]
    gpgSign = true
[credential]
    helper = {ran}/credential
[include]
    path = more
[includeIf "gitdir:/"]
    path = more
"""
MORE = "[core]\n    fsmonitor = {ran}/included\n[interactive]\n    diffFilter = {ran}/interactive\n"
PROGRAM = '#!/bin/sh\n: >"{ran}/done/$(basename "$0")"\nexit 0\n'
NAMES = (
    "fsmonitor", "pager", "editor", "ssh", "askpass", "alias-status", "alias-log", "alias", "clean", "smudge",
    "process", "external", "diff", "textconv", "merge", "gpg", "credential", "included", "interactive",
)  # fmt: skip
HOOKS = (
    "pre-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "post-commit",
    "fsmonitor-watchman",
)


@pytest.fixture
def place(tmp_path: Path, fresh_home: Path) -> Place:
    """A hostile repository with a file of every attribute, and programs of its own beside it."""
    project, ran = tmp_path / "project", tmp_path / "ran"
    project.mkdir()
    (ran / "done").mkdir(parents=True)
    quiet = {**os.environ, "HOME": str(fresh_home), "GIT_CONFIG_GLOBAL": "/dev/null"}
    (project / "a.txt").write_text("needle\n")
    for words in ("init -q -b main", "add a.txt", "-c user.name=a -c user.email=a@b commit -q -m one"):
        subprocess.run(["git", *words.split()], cwd=project, env=quiet, check=True)
    (project / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
    (project / ".git/attributes").write_text("* filter=evil diff=evil\n")
    (project / ".git/info/attributes").write_text("* filter=evil\n")
    hooks = project / "hooks"
    hooks.mkdir()
    for folder, names in ((ran, NAMES), (hooks, HOOKS), (project / ".git/hooks", HOOKS)):
        for name in names:
            (folder / name).write_text(PROGRAM.format(ran=ran))
            (folder / name).chmod(0o755)
    for name in ("git", "rg", "less", "sh", "bash", "bwrap", "python3", ".envrc", "sitecustomize.py"):
        (project / name).write_text(PROGRAM.format(ran=ran))
        (project / name).chmod(0o755)
    places = {"ran": ran, "hooks": hooks, "folder": project / ".git"}
    (project / ".git/config").write_text(CONFIG.format(**places))
    (project / ".git/more").write_text(MORE.format(**places))
    return Place(fresh_home, project)


def ran(place: Place) -> list[str]:
    """The programs of the repository that were run."""
    return sorted(os.listdir(place.project.parent / "ran/done"))


def test_git_itself_would_run_them(place: Place) -> None:
    """Else the other tests could not fail."""
    people = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {"PATH": os.environ["PATH"], "HOME": str(place.home), **people}
    for words in ("status --short", "diff", "commit -q --allow-empty -m x", "st"):
        (place.project / "a.txt").write_text(f"{words}\n")
        subprocess.run(["git", *words.split()], cwd=place.project, env=env, capture_output=True, check=False)
    assert {"included", "pre-commit", "process", "gpg", "alias"} <= set(ran(place))


TOOLS = [
    call("list_dir", call_id="c1", target_directory="."),
    call("grep", call_id="c2", pattern="needle"),
    call("read_file", call_id="c3", target_file="a.txt"),
]
EDIT = call("search_replace", call_id="c4", file_path="a.txt", old_string="needle", new_string="thread")


@pytest.mark.parametrize("profile", ["off", "workspace"])
def test_a_session_with_every_file_tool_runs_nothing_of_it(place: Place, profile: str) -> None:
    env = {"PATH": f".:{os.environ['PATH']}:", "LESS": "-R"}
    with ModelServer([reply(calls=TOOLS), reply(calls=[EDIT]), reply("done")], strict=True) as server:
        done = place.run("-p", "go", "--yolo", "--sandbox", profile, server=server, env=env)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
    results = [message["content"] for message in server.bodies[-1]["messages"] if message["role"] == "tool"]
    assert len(results) == 4 and all("needle" in text or "a.txt" in text for text in results)
    assert (place.project / "a.txt").read_text() == "thread\n"
    assert ran(place) == []
    with ModelServer([reply("again")]) as server:
        place.run("-p", "go on", "--continue", server=server, env=env)
    assert place.run("sessions", env=env).returncode == 0
    assert place.run("sandbox", "explain", "git status", env=env).returncode == 0
    assert ran(place) == []


def test_the_repl_starts_in_it_and_runs_nothing_of_it(place: Place) -> None:
    with ModelServer([reply("hello there")]) as server:
        child = place.talk(server=server, PATH=f".:{os.environ['PATH']}")
        child.expect("main")
        child.send("hi\r")
        child.expect("hello there")
        child.send("/quit\r")
        child.expect(pexpect.EOF)
        child.close()
    assert ran(place) == []
