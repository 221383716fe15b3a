"""What the profile `workspace` refuses by choice, in the installed program: not done, and the result says why."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.program import Place
from tests.e2e.sandboxed import PYTHON, Result, not_in_temporary, session

CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"


@pytest.fixture
def place(place: Place) -> Iterator[Place]:
    """A place whose home is in no temporary folder, where commands could write, with two repositories."""
    with not_in_temporary(place) as place:
        (place.home / ".bashrc").write_text("# mine\n")
        for words in ("init -q", "commit -q --allow-empty -m one", "branch side", "init -q --bare bare"):
            subprocess.run(["git", *words.split()], cwd=place.project, env=place.environment(), check=True)
        yield place


def said_of(result: Result) -> str:
    """What grokmini says of a refusal, as one text."""
    assert result.notes, f"nothing is said of the refusal of: {result}"
    return " ".join(result.notes)


def test_what_would_change_how_git_works_is_refused_and_said(place: Place) -> None:
    config = place.project / ".git/config"
    before = config.read_bytes()
    results = session(
        place,
        "git config --local core.editor vi",
        "git remote add origin ./bare",
        "git push -u ./bare main",
        "git branch --set-upstream-to=side main",
        "git branch -m side other",
    )
    for each in results:
        assert str(config) in said_of(each), each
    assert config.read_bytes() == before


def test_hooks_are_refused_however_they_are_named_and_said(place: Place) -> None:
    """H54"""
    results = session(
        place,
        "f=.git/hooks; touch $f/pre-push",
        f'{PYTHON} -c \'open(".git/ho" + "oks/post-commit", "w")\'',
        f'{PYTHON} -c \'import os; os.rename(".git", "old")\'',
    )
    for each in results:
        assert str(place.project / ".git") in said_of(each), each
    names = {path.name for path in (place.project / ".git/hooks").iterdir()}
    assert names.isdisjoint({"pre-push", "post-commit"})


def test_the_home_is_refused_and_said(place: Place) -> None:
    results = session(
        place,
        "echo x >>~/.bashrc",
        "touch ~/new",
        "rm ~/.bashrc",
        "chmod 777 ~/.bashrc",
        "git config --global user.name Else",
        f"{PYTHON} -c 'import pathlib; (pathlib.Path.home() / \".config\").mkdir()'",
    )
    for each in results:
        assert each.head != "exit: 0", each
        assert str(place.home) in said_of(each), each
    assert (place.home / ".bashrc").read_text() == "# mine\n"
    assert not (place.home / "new").exists()


def test_more_rights_are_refused_and_said(place: Place) -> None:
    sudo, namespace = session(place, "sudo -n true", "unshare -Ur true")
    for each, about in ((sudo, "no program gains rights"), (namespace, "namespaces cannot be made")):
        assert each.head != "exit: 0", each
        assert about in said_of(each), each


def test_the_socket_of_docker_is_out_of_reach_and_that_is_said(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as docker:
        docker.bind(str(path))
        docker.listen()
        (refused,) = session(place, f"{PYTHON} -c '{CONNECT}' {path}", env={"DOCKER_HOST": f"unix://{path}"})
        docker.setblocking(False)
        with pytest.raises(BlockingIOError):
            docker.accept()
    assert refused.head != "exit: 0"
    assert "docker.sock" in said_of(refused)
