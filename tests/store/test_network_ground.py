"""Files that come over a network: how they are told, and the journal that a database there has."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from grokmini.protocol.errors import UsageError
from grokmini.store.file_system import Mount, is_remote, is_served, mount_of
from grokmini.store.sqlite_file import JOURNAL_VARIABLE, journal_mode, open_database

MOUNTS = r"""
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 0:20 / /proc rw - proc proc rw
30 22 0:31 / /home rw,relatime shared:1 - nfs4 server:/home rw,vers=4.2
31 30 0:32 / /home/me/my\040disk rw - tmpfs tmpfs rw
32 22 0:33 / /mnt/share rw - cifs //server/share rw
33 22 0:34 / /mnt/lost rw
34 22 0:35 / /mnt/far rw,nosuid - fuse.sshfs me@host: rw
35 22 0:36 / /mnt/stick rw,nosuid - fuseblk /dev/sdb1 rw
36 32 0:37 / /mnt/share rw - ext4 /dev/loop0 rw
"""
SCHEMA = "CREATE TABLE thing (name TEXT); CREATE INDEX thing_name ON thing (name)"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/etc", "ext4"),
        ("/home", "nfs4"),
        ("/home/me", "nfs4"),
        ("/homes", "ext4"),
        ("/home/me/my disk/x", "tmpfs"),
        ("/mnt/lost/x", "ext4"),
        ("/mnt/far/x", "fuse.sshfs"),
        ("/mnt/stick/x", "fuseblk"),
        ("/mnt/share/x", "ext4"),
    ],
)
def test_the_mount_that_is_nearest_and_newest_counts(path: str, kind: str) -> None:
    assert mount_of(Path(path), MOUNTS).kind == kind


@pytest.mark.parametrize(
    ("kind", "source", "served"),
    [
        ("nfs4", "x", True),
        ("wekafs", "x", True),
        ("gpfs", "x", True),
        ("fuse.sshfs", "me@host:", True),
        ("fuse", "me@host:src", True),
        ("fuse.newfs", "host.example:/volume", True),
        ("fuse.newfs", "[fe80::1]:/volume", True),
        ("fuse.newfs", "//server/share", True),
        ("fuse.newfs", "https://dav.example/me", True),
        ("fuse.newfs", "newfs", False),
        ("fuse.encfs", "encfs", False),
        ("fuse.gocryptfs", "/home/me/cipher", False),
        ("fuseblk", "/dev/sdb1", False),
        ("ext4", "host:/x", False),
        ("overlay", "overlay", False),
    ],
)
def test_fuse_is_remote_by_its_kind_or_by_naming_a_host(kind: str, source: str, served: bool) -> None:
    assert is_served(Mount(kind, source)) is served


def test_what_cannot_be_found_out_is_local(tmp_path: Path) -> None:
    assert not is_remote(tmp_path, tmp_path / "missing")
    table = tmp_path / "mounts"
    table.write_bytes(b"\xff nonsense\n")
    assert not is_remote(tmp_path, table)


def test_a_network_mount_is_told(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    for kind, remote in (("nfs", True), ("ceph", True), ("lustre", True), ("9p", True), ("btrfs", False)):
        table.write_text(f"1 0 0:1 / / rw - ext4 a rw\n2 1 0:2 / {tmp_path.resolve()} rw - {kind} b rw\n")
        assert is_remote(tmp_path / "below", table) is remote


def journal_of(connection: sqlite3.Connection) -> str:
    mode: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
    return mode


def opened(folder: Path, *, remote: bool, version: int = 1, journal: str = "") -> sqlite3.Connection:
    return open_database(
        folder, "things", schema=SCHEMA, version=version, env={JOURNAL_VARIABLE: journal}, remote=remote
    )


def test_on_a_local_disk_it_is_written_ahead(tmp_path: Path) -> None:
    connection = opened(tmp_path, remote=False)
    assert journal_of(connection) == "wal"
    assert (tmp_path / "things.db").stat().st_mode & 0o777 == 0o600
    connection.close()


def test_over_a_network_the_journal_is_truncated_and_each_host_has_its_own_file(tmp_path: Path) -> None:
    connection = opened(tmp_path, remote=True)
    connection.execute("INSERT INTO thing VALUES ('x')")
    assert journal_of(connection) == "truncate"
    assert not (tmp_path / "things.db").exists()
    assert not list(tmp_path.glob("*-shm"))
    assert [path.name for path in tmp_path.glob("*.db")] == [f"things-{os.uname().nodename}.db"]
    other = opened(tmp_path, remote=True)
    assert other.execute("SELECT name FROM thing").fetchall() == [("x",)], "two may have it open"
    for each in (connection, other):
        each.close()


def test_a_file_in_write_ahead_mode_is_converted_and_keeps_what_it_holds(tmp_path: Path) -> None:
    connection = opened(tmp_path, remote=True, journal="WAL")
    assert journal_of(connection) == "wal"
    connection.execute("INSERT INTO thing VALUES ('x')")
    connection.close()
    connection = opened(tmp_path, remote=True)
    assert journal_of(connection) == "truncate"
    assert connection.execute("SELECT name FROM thing").fetchall() == [("x",)]
    connection.close()


def test_the_variable_decides_and_nonsense_is_refused() -> None:
    assert journal_mode({JOURNAL_VARIABLE: " Delete "}, remote=False) == "delete"
    assert journal_mode({JOURNAL_VARIABLE: ""}, remote=True) == "truncate"
    with pytest.raises(UsageError, match=JOURNAL_VARIABLE):
        journal_mode({JOURNAL_VARIABLE: "off; DROP"}, remote=False)


@pytest.mark.parametrize(
    "damage", [b"", b"not a database at all" * 100, b"SQLite format 3\x00" + b"\xff" * 5000]
)
def test_a_file_of_another_version_or_damaged_is_made_anew(tmp_path: Path, damage: bytes) -> None:
    connection = opened(tmp_path, remote=False)
    connection.execute("INSERT INTO thing VALUES ('x')")
    connection.close()
    connection = opened(tmp_path, remote=False, version=2)
    assert connection.execute("SELECT name FROM thing").fetchall() == []
    connection.close()
    (tmp_path / "things.db").write_bytes(damage)
    connection = opened(tmp_path, remote=False, version=2)
    connection.execute("INSERT INTO thing VALUES ('y')")
    connection.close()


def test_the_same_version_keeps_what_it_holds(tmp_path: Path) -> None:
    for names in ([], [("x",)], [("x",), ("x",)]):
        connection = opened(tmp_path, remote=False)
        assert connection.execute("SELECT name FROM thing").fetchall() == names
        connection.execute("INSERT INTO thing VALUES ('x')")
        connection.close()
