"""Line files: torn, sealed, read, quarantined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from grokmini.store.jsonl import AppendFile, Read, last_number, read_jsonl


def numbers(path: Path) -> Read[int]:
    """Read a file of numbers."""
    return read_jsonl(path, lambda line: msgspec.json.decode(line, type=int))


def append(path: Path, *lines: bytes) -> None:
    """Open, add, close."""
    file = AppendFile(path)
    assert file.append(lines).lines == len(lines)
    file.close()


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    append(path, b"1", b"2")
    append(path, b"3")
    assert path.read_bytes() == b"1\n2\n3\n"
    assert numbers(path) == Read([1, 2, 3])


def test_a_torn_last_line_is_sealed_before_the_next(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"1\n[2, 3")
    append(path, b"4")
    assert path.read_bytes() == b"1\n[2, 3\n4\n"
    assert numbers(path) == Read([1, 4], (1,))


def test_a_last_line_that_only_lacks_its_newline_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"1\n2")
    append(path, b"3")
    assert numbers(path) == Read([1, 2, 3])


def test_a_missing_file_is_an_empty_one(tmp_path: Path) -> None:
    assert numbers(tmp_path / "none") == Read([])
    assert last_number(tmp_path / "none", "seq") == 0


@pytest.mark.parametrize("bad", [b"{", b"\x00\x00\x00", b'"text"', b"\xff\xfe", b"[" * 100_000])
def test_bad_lines_are_left_out_wherever_they_are(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"1\n" + bad + b"\n2\n")
    assert numbers(path) == Read([1, 2], (1,))


def test_a_damaged_file_is_copied_once_and_left_as_it_is_and_later_damage_is_added(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b"1\nbad\n")
    numbers(path)
    copy = tmp_path / "f.jsonl.corrupt"
    assert copy.read_bytes() == path.read_bytes() == b"1\nbad\n"
    assert copy.stat().st_mode & 0o777 == 0o600
    path.write_bytes(b"2\nworse\n")
    numbers(path)
    assert numbers(path) == Read([2], (1,))
    assert copy.read_bytes() == b"1\nbad\nworse\n"


def test_a_good_file_is_not_copied(tmp_path: Path) -> None:
    append(tmp_path / "f.jsonl", b"1")
    numbers(tmp_path / "f.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["f.jsonl"]


def test_many_and_large_lines_arrive_whole(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    lines = [b"1" * size for size in (1, 700_000, 700_000, 3_000_000)] + [b"2"] * 5_000
    append(path, *lines)
    assert path.read_bytes().split(b"\n")[:-1] == lines


@pytest.mark.parametrize(
    "take",
    [
        Path.unlink,
        lambda path: path.rename(path.with_name("elsewhere")),
        lambda path: path.parent.rename(path.parent.with_name("moved")),
    ],
    ids=["deleted", "moved", "in a folder that was moved"],
)
def test_a_file_that_is_no_longer_in_its_place_is_noticed(
    tmp_path: Path, take: Callable[[Path], object]
) -> None:
    path = tmp_path / "folder" / "f.jsonl"
    path.parent.mkdir()
    file = AppendFile(path)
    assert not file.is_gone()
    take(path)
    assert file.is_gone()
    file.close()


def test_the_last_number_is_found_behind_torn_and_foreign_lines(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b'{"seq":7}\n{"seq":9,"new":{"x":1}}\n{"seq":"x"}\nnonsense\n{"seq":1')
    assert last_number(path, "seq") == 9


def test_the_last_number_is_found_before_a_line_larger_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b'{"seq":5}\n{"seq":6,"text":"' + b"x" * 3_000_000 + b'"}\n' + b"x" * 1_500_000)
    assert last_number(path, "seq") == 6
