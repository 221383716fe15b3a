"""Where sessions are, and that nobody else can read them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.store.layout import decode_cwd, encode_cwd, make_group, make_private_directory, open_private
from tests.store.ground import stored_session


def mode(path: Path) -> int:
    """Permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=["umask 000", "umask 022", "umask 777"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """A umask for the test."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@settings(max_examples=100)
@given(st.binary(max_size=60).filter(lambda raw: b"\0" not in raw))
def test_a_directory_name_can_be_turned_back_into_the_path(raw: bytes) -> None:
    cwd = Path(os.fsdecode(b"/" + raw))
    name = encode_cwd(cwd)
    assert "/" not in name
    assert name.isascii()
    assert decode_cwd(Path("/state/sessions") / name) == cwd


def test_a_path_too_long_for_a_name_gets_a_slug_and_says_the_real_path_inside(tmp_path: Path) -> None:
    cwd = Path("/" + "ü" * 60) / "Mein Projekt"
    group = make_group(tmp_path, cwd)
    assert group.name.startswith("Mein-Projekt-")
    assert len(os.fsencode(group.name)) <= 255
    assert decode_cwd(group) == cwd
    assert encode_cwd(cwd.with_name("Mein Projekt!")) != group.name


def test_names_of_exactly_255_bytes_are_not_shortened() -> None:
    fits = Path("/" + "a" * 252)
    assert encode_cwd(fits) == "%2F" + "a" * 252
    assert not encode_cwd(Path("/" + "a" * 253)).startswith("%")


def test_directories_and_files_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    make_private_directory(tmp_path / "a" / "b")
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700
    os.close(open_private(tmp_path / "a" / "f", os.O_WRONLY))
    assert mode(tmp_path / "a" / "f") == 0o600


async def test_everything_a_session_leaves_is_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    session = await stored_session(tmp_path / "state", 2)
    session.files.write("1-1.txt", b"output")
    made = list((tmp_path / "state").rglob("*"))
    assert {mode(path) for path in made if path.is_dir()} == {0o700}
    assert {mode(path) for path in made if path.is_file()} == {0o600}
    assert len(made) > 7


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"")
    path.chmod(0o644)
    os.close(open_private(path, os.O_RDWR))
    assert mode(path) == 0o600
