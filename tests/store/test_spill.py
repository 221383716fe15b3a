"""Files for output too big for the conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from grokmini.store.spill import SessionSpill


def test_data_is_kept_under_the_name_given(tmp_path: Path) -> None:
    path = SessionSpill(tmp_path).write("3-1.txt", b"output")
    assert path == str(tmp_path / "tool_output" / "3-1.txt")
    assert Path(path).read_bytes() == b"output"


def test_whole_prompts_have_a_folder_of_their_own(tmp_path: Path) -> None:
    assert SessionSpill(tmp_path).write("prompt-3.txt", b"x") == str(tmp_path / "prompts" / "prompt-3.txt")


def test_nothing_is_ever_written_over(tmp_path: Path) -> None:
    spill = SessionSpill(tmp_path)
    names = [spill.write("3-1.txt", bytes([number])) for number in range(3)]
    assert [Path(name or "").name for name in names] == ["3-1.txt", "3-1-2.txt", "3-1-3.txt"]
    assert Path(names[0] or "").read_bytes() == b"\x00"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", ".hidden", "a\nb", "a" * 101, "ä"])
def test_names_that_are_no_plain_file_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        SessionSpill(tmp_path).open_path(name)


def test_what_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert SessionSpill(tmp_path / "file").write("1.txt", b"x") is None
    assert SessionSpill(None).open_path("1.txt") is None
