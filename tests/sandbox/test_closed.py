"""What a command closes stays guarded: the next one runs, and cannot open it again."""

from __future__ import annotations

import socket
import tempfile
from pathlib import Path

import pytest

from grokmini.sandbox.git_folders import git_protected
from grokmini.sandbox.probe import probe
from grokmini.sandbox.sockets import bound_sockets
from tests.sandbox.attacks.stage import report
from tests.sandbox.closing import CASES, FIRST, KEY


@pytest.mark.skipif(not probe().bwrap, reason="needs bubblewrap")
def test_a_folder_that_a_command_closed_is_neither_opened_again_nor_in_the_way_of_the_next() -> None:
    found = report("user", "tests.sandbox.closing")
    assert found.keys() == CASES.keys()
    for title, told in found.items():
        assert told["printed"].startswith(FIRST), title
        assert KEY not in told["printed"], title
        assert not told["changed"], title
        assert len(told["told"]) == (title == "the repository"), title


def test_paths_where_the_person_may_not_look_are_left_aside() -> None:
    with (
        tempfile.TemporaryDirectory(prefix="gs-", dir="/var/tmp") as closed,
        socket.socket(socket.AF_UNIX) as outside,
    ):
        outside.bind(f"{closed}/socket")
        outside.listen()
        assert f"{closed}/socket" in bound_sockets()
        Path(closed).chmod(0)
        assert report("user", "tests.sandbox.closing", closed) == {"below": [], "sockets": []}
        Path(closed).chmod(0o700)


@pytest.mark.parametrize("text", ["gitdir: a\0b", "gitdir: ../elsewhere/.git\0"])
def test_a_git_file_that_names_no_path_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / ".git").write_text(text)
    assert git_protected(str(tmp_path)) == (f"{tmp_path}/.git/hooks", f"{tmp_path}/.git/config")


def test_settings_of_a_submodule_that_name_no_path_are_passed_over(tmp_path: Path) -> None:
    module = tmp_path / ".git/modules/one"
    module.mkdir(parents=True)
    (module / "config").write_bytes(b"[core]\n worktree = a\0b\n")
    assert str(module / "config") in git_protected(str(tmp_path))
