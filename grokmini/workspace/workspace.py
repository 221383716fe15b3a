"""The folder the agent works in: paths, files, what was read, what was changed."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from grokmini.files.places import real_path
from grokmini.sandbox.file_guard import FileGuard
from grokmini.text.paths import given_path, visible_path
from grokmini.workspace.changes import ChangeLog
from grokmini.workspace.file_writes import write_bytes
from grokmini.workspace.files import check_readable, listing, read_bytes
from grokmini.workspace.gate import UNGATED, Gate

ViewState = Literal["unread", "current", "changed"]


class Views:
    """What the model has seen of files: a hash of each file's whole content at its last read or own edit."""

    def __init__(self) -> None:
        self._hashes: dict[str, bytes] = {}

    def note(self, path: Path, data: bytes) -> None:
        """The model has now seen this content of the file with that real path."""
        self._hashes[str(path)] = _digest(data)

    def state(self, path: Path, data: bytes) -> ViewState:
        """Whether the model knows the file as it is now."""
        seen = self._hashes.get(str(path))
        if seen is None:
            return "unread"
        return "current" if seen == _digest(data) else "changed"


class StaleFileError(OSError):
    """The file was changed by someone else while it was being edited."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.ESTALE, "changed meanwhile", str(path))


class Workspace:
    """The files of a session. `read_before_edit` says whether edits need an earlier read; `guard` keeps reads and
    writes within the sandbox profile.

    Methods that touch the disk block; call them in a thread. They raise `OSError`: `FileRefusedError` for what the
    profile does not allow. `approved` are the real paths that a person let this one call write all the same.
    """

    def __init__(self, root: Path, *, read_before_edit: bool = True, guard: FileGuard | None = None) -> None:
        self._root = Path(os.path.normpath(root.absolute()))
        self._guard = guard
        self.read_before_edit = read_before_edit
        self.views = Views()
        self.changes = ChangeLog()

    @property
    def root(self) -> Path:
        """The folder that relative paths start from, absolute."""
        return self._root

    def move_to(self, path: Path) -> None:
        """Work in another folder from now on. What was read and changed stays known."""
        self._root = Path(os.path.normpath(self._root / path))

    def resolve(self, path: str) -> Path:
        """The absolute path a text means: relative to the root, `~` is the home folder. Links are kept.

        What `shown` gives in quotes is taken as it stands. Raises `ValueError` for an empty text or one with a NUL
        character.
        """
        path = given_path(path)
        if not path.strip() or "\0" in path:
            raise ValueError("a path cannot be empty or hold a NUL character")
        try:
            wanted = Path(path).expanduser()
        except RuntimeError:  # no home folder is known: the path is meant as it stands
            wanted = Path(path)
        return Path(os.path.normpath(self._root / wanted))

    def real(self, path: Path) -> Path:
        """Where a path leads, links followed as far as they exist."""
        return real_path(path)

    def shown(self, path: Path) -> str:
        """How to show a path in one line: relative to the root when inside, else absolute (see `visible_path`)."""
        return visible_path(path.relative_to(self._root) if path.is_relative_to(self._root) else path)

    @property
    def gate(self) -> Gate:
        """What walks and searches go through."""
        return UNGATED if self._guard is None else self._guard

    def read(self, path: Path, approved: Collection[Path] = ()) -> bytes:
        """The whole file (see `files.read_bytes`)."""
        return read_bytes(path, gate=self._gate_of(approved))

    def read_if_there(self, path: Path, approved: Collection[Path] = ()) -> bytes | None:
        """The whole file, or None when there is none."""
        try:
            return self.read(path, approved)
        except FileNotFoundError:
            return None

    def check_readable(self, path: Path) -> None:
        """Raise `OSError` unless the file or folder is there and may be read."""
        check_readable(path, self.gate)

    def names_in(self, folder: Path, limit: int) -> list[str]:
        """Names in a folder, `limit` at most."""
        with listing(folder, self.gate) as entries:
            return [entry.name for entry, _ in zip(entries, range(limit), strict=False)]

    def replace(
        self,
        path: Path,
        before: bytes | None,
        after: bytes,
        prompt_index: int,
        approved: Collection[Path] = (),
    ) -> None:
        """Write a file that held `before` (None: did not exist), and note view and change.

        Raises `StaleFileError` when it no longer holds that.
        """
        if self.read_if_there(path, approved) != before:
            raise StaleFileError(path)
        write_bytes(path, after, self._gate_of(approved))
        self.views.note(self.real(path), after)
        self.changes.record(prompt_index, self.shown(path), before, after)

    def _gate_of(self, approved: Collection[Path]) -> Gate:
        return self._guard.but_for(approved) if self._guard is not None and approved else self.gate


def _digest(data: bytes) -> bytes:
    import hashlib

    return hashlib.blake2b(data, digest_size=16).digest()
