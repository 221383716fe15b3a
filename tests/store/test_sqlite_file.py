"""A database of ours opens whatever was done to its file: it is a cache, and made anew where it must be."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from grokmini.protocol.errors import UsageError
from grokmini.store.sqlite_file import JOURNAL_VARIABLE, is_damage, open_database, remove_database
from tests.store.ground import REPOSITORY

SCHEMA = "CREATE TABLE thing (name TEXT); CREATE INDEX thing_name ON thing (name)"
SEED = 20_260_102
HEADER = 100
FLIPS = 12


def opened(folder: Path, *, remote: bool = False, version: int = 1, journal: str = "") -> sqlite3.Connection:
    """The database, with the environment of a test."""
    return open_database(
        folder, "things", schema=SCHEMA, version=version, env={JOURNAL_VARIABLE: journal}, remote=remote
    )


def use(folder: Path) -> list[str]:
    """Open it, add a row, read everything back, close it; if need be with a new file, as its users do."""
    try:
        return used(folder)
    except sqlite3.DatabaseError as error:
        assert is_damage(error), error
        remove_database(folder / "things.db")
        return used(folder)


def used(folder: Path) -> list[str]:
    """The same with the file as it is."""
    connection = opened(folder)
    try:
        connection.execute("INSERT INTO thing VALUES ('new')")
        return [name for (name,) in connection.execute("SELECT name FROM thing ORDER BY rowid")]
    finally:
        connection.close()


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_any_byte_of_the_header_may_be_wrong(tmp_path: Path, full: bool, flip: int) -> None:
    connection = opened(tmp_path)
    connection.executemany("INSERT INTO thing VALUES (?)", [(f"old {number}",) for number in range(5)])
    connection.close()
    path = tmp_path / "things.db"
    sample = path.read_bytes()
    places = range(HEADER) if full else random.Random(SEED).sample(range(HEADER), FLIPS)
    for place in {*places, 18, 19, 44, 47, 60, 63}:
        damaged = bytearray(sample)
        damaged[place] ^= flip
        remove_database(path)
        path.write_bytes(damaged)
        assert use(tmp_path)[-1] == "new", (SEED, place)
        assert use(tmp_path)[-2:] == ["new", "new"], (SEED, place)


@pytest.mark.parametrize("size", [0, 1, 99, 100, 512, 4_095, 4_096, 4_097, 8_191])
def test_a_file_cut_anywhere_opens(tmp_path: Path, size: int) -> None:
    use(tmp_path)
    path = tmp_path / "things.db"
    path.write_bytes(path.read_bytes()[:size])
    assert use(tmp_path)[-1] == "new"
    assert use(tmp_path)[-2:] == ["new", "new"]


def test_another_programs_database_in_its_place_is_made_anew(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "things.db")
    other.execute("CREATE TABLE thing (colour INTEGER)")
    other.close()
    assert use(tmp_path) == ["new"]


def test_of_a_killed_process_the_journal_is_played_back(tmp_path: Path) -> None:
    program = (
        "import sys, os, signal; from pathlib import Path; from tests.store.test_sqlite_file import opened\n"
        "connection = opened(Path(sys.argv[1]), journal=sys.argv[2])\n"
        "connection.execute(\"INSERT INTO thing VALUES ('kept')\")\n"
        "connection.execute('BEGIN'); connection.execute(\"INSERT INTO thing VALUES ('lost')\")\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    for journal in ("wal", "truncate"):
        folder = tmp_path / journal
        killed = subprocess.run(
            [sys.executable, "-c", program, str(folder), journal], cwd=REPOSITORY, check=False
        )
        assert killed.returncode == -9
        connection = opened(folder, journal=journal)
        assert connection.execute("SELECT name FROM thing").fetchall() == [("kept",)]
        connection.close()


def test_no_shared_memory_is_ever_made_where_there_is_none(tmp_path: Path) -> None:
    """A file that a program left in write-ahead mode, as by copying it: the journal of the copy is not merged yet."""
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    connection = opened(here, remote=True, journal="wal")
    connection.execute("INSERT INTO thing VALUES ('x')")
    for path in here.glob("*.db*"):
        if not path.name.endswith("-shm"):
            (there / path.name).write_bytes(path.read_bytes())
    connection.close()
    name = next(path.name for path in there.glob("*.db"))
    assert (there / f"{name}-wal").stat().st_size > 0
    os.mkdir(there / f"{name}-shm")  # whoever maps it fails
    connection = opened(there, remote=True)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("truncate",)
    assert connection.execute("SELECT name FROM thing").fetchall() == [("x",)]
    connection.execute("INSERT INTO thing VALUES ('y')")
    connection.close()
    assert not (there / f"{name}-wal").exists()
    assert list((there / f"{name}-shm").iterdir()) == []


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        connection = opened(tmp_path / "cache")
        connection.execute("INSERT INTO thing VALUES ('x')")
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "cache").iterdir()}
        connection.close()
    finally:
        os.umask(previous)
    assert set(modes) == {"things.db", "things.db-wal", "things.db-shm", "things.lock"}
    assert set(modes.values()) == {0o600}
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_a_removed_database_leaves_nothing_but_its_door(tmp_path: Path) -> None:
    connection = opened(tmp_path)
    connection.execute("INSERT INTO thing VALUES ('x')")
    remove_database(tmp_path / "things.db")
    connection.close()
    assert {path.name for path in tmp_path.iterdir()} <= {"things.lock"}
    remove_database(tmp_path / "things.db")


def test_a_bad_variable_opens_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"{JOURNAL_VARIABLE} is 'sideways'"):
        opened(tmp_path / "cache", journal="Sideways")
    assert not (tmp_path / "cache").exists()


def test_what_the_disk_refuses_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "things.db").mkdir()
    with pytest.raises(sqlite3.OperationalError) as caught:
        opened(tmp_path)
    assert not is_damage(caught.value)
    assert (tmp_path / "things.db").is_dir()
