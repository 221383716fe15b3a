"""Paths, views and changes of a workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.workspace.changes import ChangeLog
from grokmini.workspace.workspace import StaleFileError, Workspace


def test_paths_start_from_the_root_and_are_shown_relative_to_it(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    assert workspace.resolve("a/../b.txt") == tmp_path / "b.txt"
    assert workspace.resolve("/etc/hosts") == Path("/etc/hosts")
    assert workspace.resolve("~/x") == Path.home() / "x"
    assert workspace.shown(tmp_path / "b.txt") == "b.txt"
    assert workspace.shown(Path("/etc/hosts")) == "/etc/hosts"


@pytest.mark.parametrize("path", ["", "  ", "a\0b"])
def test_an_unusable_path_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        Workspace(tmp_path).resolve(path)


def test_after_moving_paths_start_from_there(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.move_to(Path("sub"))
    assert workspace.resolve("f") == tmp_path / "sub" / "f"


def test_a_view_knows_unread_current_and_changed(tmp_path: Path) -> None:
    views = Workspace(tmp_path).views
    file = tmp_path / "f"
    assert views.state(file, b"a") == "unread"
    views.note(file, b"a")
    assert views.state(file, b"a") == "current"
    assert views.state(file, b"b") == "changed"


def test_an_own_write_is_seen_and_recorded(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.replace(tmp_path / "f", None, b"x\n", prompt_index=0)
    assert workspace.views.state(tmp_path / "f", b"x\n") == "current"
    assert workspace.changes.files_changed(0) == 1


def test_a_write_against_other_content_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"theirs")
    workspace = Workspace(tmp_path)
    with pytest.raises(StaleFileError):
        workspace.replace(tmp_path / "f", b"mine", b"new", prompt_index=0)
    assert (tmp_path / "f").read_bytes() == b"theirs"
    assert workspace.changes.files_changed() == 0


def test_the_net_change_of_a_prompt_and_of_the_session() -> None:
    log = ChangeLog()
    log.record(0, "f", b"one\n", b"two\n")
    log.record(0, "f", b"two\n", b"three\n")
    log.record(1, "f", b"three\n", b"one\n")
    log.record(1, "g", None, b"new\n")
    assert [(change.before, change.after) for change in log.changed(0)] == [(b"one\n", b"three\n")]
    assert [change.path for change in log.changed()] == ["g"]
    assert (log.files_changed(0), log.files_changed(1), log.files_changed(), log.files_changed(7)) == (
        1,
        2,
        1,
        0,
    )
    assert "+new" in log.diff() and "-one" in log.diff(0)
    assert log.diff(7) == ""


def test_a_binary_change_is_named_not_shown() -> None:
    log = ChangeLog()
    log.record(0, "f.bin", b"\0\1", b"\0\2")
    assert log.diff() == "Binary file f.bin changed\n"
