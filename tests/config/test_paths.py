"""Where our files are, and that only their owner can read them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import cast

import pytest

from grokmini.config.paths import find_places, write_private
from grokmini.config.project import folders_down_to
from grokmini.files.places import repository_root
from grokmini.files.private import make_private_folder
from grokmini.protocol.errors import UsageError

linux = pytest.mark.skipif(sys.platform != "linux", reason="the XDG defaults of Linux")


@linux
def test_the_defaults_are_xdgs() -> None:
    places = find_places({"HOME": "/h"})
    assert places is not None
    assert [str(place) for place in places] == [
        "/h/.config/grokmini", "/h/.local/state/grokmini", "/h/.cache/grokmini", "/h/.local/share/grokmini",
    ]  # fmt: skip


def test_each_xdg_variable_is_honoured() -> None:
    env = {f"XDG_{name}_HOME": f"/x/{name}" for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    places = find_places(env)
    assert places is not None
    assert [str(place) for place in places] == [
        f"/x/{name}/grokmini" for name in ("CONFIG", "STATE", "CACHE", "DATA")
    ]


@linux
def test_a_relative_xdg_variable_does_not_count() -> None:
    places = find_places({"HOME": "/h", "XDG_STATE_HOME": "here"})
    assert places is not None
    assert str(places.state) == "/h/.local/state/grokmini"


def test_our_own_variable_holds_all_four() -> None:
    places = find_places({"HOME": "/h", "XDG_CONFIG_HOME": "/x", "GROKMINI_HOME": "/g"})
    assert places is not None
    assert [str(place) for place in places] == ["/g/config", "/g/state", "/g/cache", "/g/data"]


def test_our_own_variable_is_never_the_current_folder() -> None:
    with pytest.raises(UsageError):
        find_places({"GROKMINI_HOME": "here"})


@pytest.mark.parametrize("env", [{}, {"HOME": ""}, {"HOME": "relative"}, {"XDG_CONFIG_HOME": "/x"}])
def test_without_a_home_there_are_no_places(env: dict[str, str]) -> None:
    assert find_places(env) is None


def test_finding_places_creates_nothing(tmp_path: Path) -> None:
    find_places({"HOME": str(tmp_path)})
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_is_the_owners_alone(tmp_path: Path) -> None:
    old = os.umask(0o022)
    try:
        write_private(tmp_path / "a" / "b" / "file", b"x")
    finally:
        os.umask(old)
    assert (tmp_path / "a" / "b" / "file").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path: Path) -> None:
    target = tmp_path / "file"
    write_private(target, b"old")
    with pytest.raises(TypeError):
        write_private(target, cast("bytes", "no bytes: it fails in the middle of writing"))
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("file", b"old")]


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_private(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path / "new")
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_the_repository_is_the_nearest_one_upwards(tmp_path: Path) -> None:
    root = tmp_path.resolve() / "r"
    (root / "a" / "b").mkdir(parents=True)
    assert repository_root(root / "a") is None
    (root / ".git").mkdir()
    assert repository_root(root / "a" / "b") == root
    (root / "a" / ".git").write_text("gitdir: elsewhere")
    assert repository_root(root / "a" / "b") == root / "a"
    assert folders_down_to(root / "a" / "b", root) == (root, root / "a", root / "a" / "b")
    assert folders_down_to(root / "a", None) == (root / "a",)


def test_a_git_link_to_where_one_cannot_look_makes_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to("x" * 300)
    assert repository_root(tmp_path) is None
