"""Every SQLite file of ours is opened here. Each is a cache: what is damaged or of another version is made anew.

Write-ahead logging needs memory shared between processes, which files on a network do not have: there the
journal is truncated instead, and each host has a file of its own, so that no older version can turn a shared one
back (spec: persistence.md, "Sessions: list, resume, fork, search, clean").
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grokmini.protocol.errors import UsageError
from grokmini.store.file_system import is_remote
from grokmini.store.layout import FILE_MODE, make_private_directory, open_private

if TYPE_CHECKING:
    import sqlite3

JOURNAL_VARIABLE: Final = "GROKMINI_SQLITE_JOURNAL_MODE"
JOURNAL_MODES: Final = ("wal", "truncate", "delete", "persist", "memory")
BUSY_SECONDS: Final = 5.0
DATABASE: Final = ".db"
DATABASE_PARTS: Final = (".db-wal", ".db-shm", ".db-journal")
"""How the names of a database's other files end."""


def open_database(
    folder: Path,
    name: str,
    *,
    schema: str,
    version: int,
    env: Mapping[str, str] = os.environ,
    remote: bool | None = None,
) -> sqlite3.Connection:
    """Open `{name}.db` in the folder with that schema; a file of another version, or damaged, is made anew.

    `remote` says whether the folder is on a network file system; by default that is found out. Raises `UsageError`
    for a journal mode that there is not, `OSError` and `sqlite3.Error` when nothing can be opened.
    """
    import sqlite3

    if remote is None:
        remote = is_remote(folder)
    journal = journal_mode(env, remote=remote)
    make_private_directory(folder)
    path = folder / (f"{name}-{_host()}{DATABASE}" if remote else f"{name}{DATABASE}")
    with _door(path):
        try:
            return _opened(path, journal, schema, version)
        except (sqlite3.DatabaseError, _OtherVersionError) as error:
            if isinstance(error, sqlite3.OperationalError) and not _is_of_no_use(error):
                raise  # busy, or the disk refuses: no reason to throw anything away
            _unlink_all(path)
            return _opened(path, journal, schema, version)


def is_damage(error: BaseException) -> bool:
    """Whether an error of a query says that the file is damaged, so that it has to be made anew.

    Damage deep in a file, and a header that forbids writing, show only when it is used.
    """
    import sqlite3

    return isinstance(error, sqlite3.DatabaseError) and getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_READONLY,
    )


def _is_of_no_use(error: sqlite3.OperationalError) -> bool:
    """Whether what failed while opening was the file's own doing: its damage, its format or its tables."""
    import sqlite3

    return is_damage(error) or getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_ERROR


def journal_mode(env: Mapping[str, str], *, remote: bool) -> str:
    """The journal to use. Raises `UsageError` for a value of the variable that is none."""
    asked = env.get(JOURNAL_VARIABLE, "").strip().lower()
    if not asked:
        return "truncate" if remote else "wal"
    if asked not in JOURNAL_MODES:
        raise UsageError(f"{JOURNAL_VARIABLE} is {asked!r}", f"one of {', '.join(JOURNAL_MODES)}")
    return asked


def remove_database(path: Path) -> None:
    """Remove a database file and what belongs to it. Raises `OSError`."""
    with _door(path):
        _unlink_all(path)


def _unlink_all(path: Path) -> None:
    path.unlink(missing_ok=True)
    for ending in DATABASE_PARTS:
        path.with_suffix(ending).unlink(missing_ok=True)


class _OtherVersionError(Exception):
    """The file was made by another version of the program."""


@contextlib.contextmanager
def _door(path: Path) -> Iterator[None]:
    """One process at a time opens or removes the file; those that have it open already are in nobody's way.

    Where there are no locks, it goes without.
    """
    descriptor = open_private(path.with_suffix(".lock"), os.O_RDWR)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _opened(path: Path, journal: str, schema: str, version: int) -> sqlite3.Connection:
    import sqlite3

    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        with contextlib.suppress(OSError):
            path.chmod(FILE_MODE)
        if journal != "wal":
            # Held alone while the journal changes, so that the shared memory of a former one is never mapped.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        (used,) = connection.execute(f"PRAGMA journal_mode = {journal}").fetchone()
        if used == "wal" != journal:
            raise sqlite3.OperationalError("another process keeps the file in write-ahead mode")
        connection.execute("PRAGMA locking_mode = NORMAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found not in (0, version):
            raise _OtherVersionError
        if found == 0:
            connection.execute("BEGIN IMMEDIATE")
            (found,) = connection.execute("PRAGMA user_version").fetchone()
            if found == 0:
                for statement in filter(None, map(str.strip, schema.split(";"))):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version}")
            connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", os.uname().nodename)[:64] or "host"
