"""The growing end of another process's `updates.jsonl`: what is stored first, then what comes, never in between."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from grokmini.files.regular import open_regular
from grokmini.protocol.events import EventRecord
from grokmini.store.layout import UPDATES
from grokmini.store.updates import read_event, start_of_last_turns

READ_LIMIT = 4 << 20
"""Bytes that one `read` takes at most: who is far behind catches up in steps, in bounded memory."""


class UpdatesTail:
    """Reads on from where it was. Everything here blocks for a disk read at most; one owner.

    `after_seq` is the number of the last event that the reader has: those up to it are dropped. All others are new,
    whatever order their numbers are in: a bit of one may be wrong. It begins at the byte `offset` of the file, or with
    `turns` at the last so many turns. `behind` says that more was there at the last `read` than it took.
    A `read` takes `limit` bytes at most, or one line that is longer.
    """

    def __init__(
        self,
        directory: Path,
        *,
        after_seq: int = 0,
        offset: int = 0,
        turns: int | None = None,
        limit: int = READ_LIMIT,
    ) -> None:
        self._limit = limit
        self._path = directory / UPDATES
        self._offset = offset if turns is None else start_of_last_turns(self._path, turns)
        self._seq = self._had = after_seq
        self._inode = 0
        self.behind = False

    @property
    def last_seq(self) -> int:
        """The highest number of an event that was given out."""
        return self._seq

    @property
    def offset(self) -> int:
        """The byte up to which lines were read."""
        return self._offset

    def changed(self) -> bool:
        """Whether a `read` may find something; costs one look at the file's entry."""
        try:
            found = self._path.stat()
        except OSError:
            return False
        return found.st_size != self._offset or found.st_ino != self._inode

    def read(self) -> list[EventRecord]:
        """The events that came since the last call. A torn last line waits until it is whole.

        A file that is not there yet holds nothing; one that was replaced is read anew, without what was given
        out before. Raises `OSError`.
        """
        try:
            file = open_regular(self._path)
        except FileNotFoundError:
            self._offset = self._inode = 0
            self.behind = False
            return []
        with file:
            found = os.fstat(file.fileno())
            if found.st_ino != (self._inode or found.st_ino) or found.st_size < self._offset:
                self._offset, self._had = 0, self._seq
            self._inode = found.st_ino
            file.seek(self._offset)
            data = _whole_lines(file, self._limit)
            self._offset += len(data)
            self.behind = bool(data) and file.tell() >= self._limit + self._offset - len(data)
        return [record for line in data.split(b"\n") if (record := self._new(line)) is not None]

    def _new(self, line: bytes) -> EventRecord | None:
        record = read_event(line) if line else None
        if record is None or record.seq <= self._had:
            return None
        self._seq = max(self._seq, record.seq)
        return record


def _whole_lines(file: BinaryIO, limit: int) -> bytes:
    """As many whole lines as fit into the limit, or one that is longer."""
    data = file.read(limit)
    end = data.rfind(b"\n") + 1
    if end or len(data) < limit:
        return data[:end]
    longer = data + file.readline()
    return longer if longer.endswith(b"\n") else b""
