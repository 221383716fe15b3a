"""Writing files without changing what they are."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from grokmini.files.regular import NotRegularError
from grokmini.workspace.file_writes import write_bytes
from grokmini.workspace.files import FileTooLargeError, read_bytes


def test_a_write_through_two_links_reaches_the_real_file_and_keeps_both(tmp_path: Path) -> None:
    real, link, link2 = tmp_path / "real", tmp_path / "link", tmp_path / "link2"
    real.write_bytes(b"v1\n")
    link.symlink_to("real")
    link2.symlink_to("link")
    write_bytes(link2, b"v2\n")
    assert link.is_symlink() and link2.is_symlink()
    assert real.read_bytes() == b"v2\n"


def test_links_that_lead_to_each_other_are_an_error_not_a_hang(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        read_bytes(tmp_path / "a")
    with pytest.raises(OSError, match="symbolic links"):
        write_bytes(tmp_path / "a", b"x")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o4755])
def test_the_mode_is_kept(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"a")
    file.chmod(mode)
    write_bytes(file, b"b")
    assert stat.S_IMODE(file.stat().st_mode) == mode


def test_hard_links_stay_together(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"long content")
    other.hardlink_to(one)
    write_bytes(one, b"short")
    assert other.read_bytes() == b"short"
    assert one.samefile(other)


def test_a_file_alone_is_replaced_in_one_step(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"old")
    with file.open("rb") as reader:
        write_bytes(file, b"new")
        assert reader.read() == b"old"
    assert file.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["f"]


def test_missing_folders_are_made_and_the_umask_holds(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        write_bytes(tmp_path / "a" / "b" / "f", b"x")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "a" / "b" / "f").stat().st_mode) == 0o640


def test_a_pipe_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegularError):
        read_bytes(tmp_path / "pipe")
    with pytest.raises(NotRegularError):
        write_bytes(tmp_path / "pipe", b"x")


def test_a_file_over_the_limit_is_refused_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 11)
    with pytest.raises(FileTooLargeError) as caught:
        read_bytes(tmp_path / "f", limit=10)
    assert caught.value.size == 11


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_bytes(tmp_path)
    with pytest.raises(IsADirectoryError):
        write_bytes(tmp_path, b"x")
