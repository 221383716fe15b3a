"""Files of one JSON value a line: appended to, torn by crashes, read all the same (spec: "Torn writes")."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import msgspec

from grokmini.files.regular import open_regular
from grokmini.store.layout import is_named, open_private, sync

T = TypeVar("T")

_BLOCK = 1 << 20
CORRUPT = ".corrupt"
"""What is added to the name of a damaged file for the copy that is kept of it."""


class Read(NamedTuple, Generic[T]):
    """What a file held: the values in order, and before which of them lines were that could not be read.

    `kept` says whether those lines are in the file's `*.corrupt`, so that a rewrite throws nothing away.
    """

    values: list[T]
    places: tuple[int, ...] = ()
    kept: bool = True

    @property
    def skipped(self) -> int:
        """How many lines could not be read."""
        return len(self.places)


class Appended(NamedTuple):
    """How many whole lines reached the file, and what stopped the rest."""

    lines: int
    error: OSError | None


class AppendFile:
    """A file that only grows, one line at a time. Not thread-safe: one owner.

    Before the first line after opening, and after a failed or short write, a torn last line is sealed with a
    newline, so that it stays one bad line.
    """

    def __init__(self, path: Path) -> None:
        """Open, creating the file. Raises `OSError`."""
        self._path = path
        self._descriptor = open_private(path, os.O_RDWR | os.O_APPEND)
        self._named = is_named(self._descriptor, path)
        self._sealed = False
        self.dirty = False

    def is_gone(self) -> bool:
        """Whether somebody removed or moved the file while it was open: what is written to it, nobody finds.

        Some network file systems never give a file the same number twice: there a move is not seen.
        """
        if os.fstat(self._descriptor).st_nlink == 0:
            return True
        return self._named and not is_named(self._descriptor, self._path)

    def size(self) -> int:
        """Bytes in the file. Raises `OSError`."""
        return os.fstat(self._descriptor).st_size

    def append(self, lines: Sequence[bytes]) -> Appended:
        """Add lines (without their newlines). Never raises for what the disk does."""
        done = 0
        try:
            self._seal()
            while done < len(lines):
                done += self._append_block(lines, done)
        except _TornError as torn:
            self._sealed = False
            return Appended(done + torn.lines, torn.error)
        except OSError as error:
            self._sealed = False
            return Appended(done, error)
        return Appended(done, None)

    def sync(self) -> None:
        """Wait until what was written is on the disk itself. Raises `OSError`."""
        if self.dirty:
            sync(self._descriptor, data_only=True)
            self.dirty = False

    def close(self) -> None:
        """Give the descriptor back. The number may soon be another file's, so it is forgotten."""
        os.close(self._descriptor)
        self._descriptor = -1

    def _seal(self) -> None:
        if self._sealed:
            return
        size = self.size()
        if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
            os.write(self._descriptor, b"\n")
        self._sealed = True

    def _append_block(self, lines: Sequence[bytes], start: int) -> int:
        """Write some lines from `start` on, in one system call if the disk takes them; how many."""
        block = bytearray()
        end = start
        while end < len(lines) and (end == start or len(block) + len(lines[end]) < _BLOCK):
            block += lines[end]
            block += b"\n"
            end += 1
        self.dirty = True
        written = 0
        while written < len(block):
            try:
                written += os.write(self._descriptor, memoryview(block)[written:])
            except OSError as error:
                raise _TornError(block.count(b"\n", 0, written), error) from error
        return end - start


class _TornError(Exception):
    """A write that stopped in the middle of a block, after so many whole lines of it."""

    def __init__(self, lines: int, error: OSError) -> None:
        super().__init__(str(error))
        self.lines = lines
        self.error = error


def read_jsonl(path: Path, decode: Callable[[bytes], T], *, keep_damaged: bool = True) -> Read[T]:
    """Every line that can be read. When one cannot, the file is copied once to `*.corrupt`; damage of later days
    is added there.

    `keep_damaged` False makes no copy: for readers of a file that another process writes. A missing file is an
    empty one. Raises `OSError` for a file that cannot be read at all. Only bad lines are in memory beside the
    values.
    """
    values: list[T] = []
    bad: list[bytes] = []
    places: list[int] = []
    try:
        file = open_regular(path, buffering=_BLOCK)
    except FileNotFoundError:
        return Read(values)
    with file:
        for line in file:
            stripped = line.rstrip(b"\n")
            if not stripped:
                continue
            try:
                values.append(decode(stripped))
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                bad.append(stripped)
                places.append(len(values))
        file.seek(0)
        data = iter(partial(file.read, _BLOCK), b"")
        kept = quarantine(path, data, bad) if bad and keep_damaged else not bad
    return Read(values, tuple(places), kept)


def quarantine(path: Path, data: Iterable[bytes], bad: Iterable[bytes]) -> bool:
    """Keep a damaged file's bytes beside it as `*.corrupt`; whether that worked.

    To a copy of an earlier damage only those of the `bad` lines are added that it lacks. A copy that cannot be
    made is no reason not to open the session: the file itself is left as it is.
    """
    copy = path.with_name(path.name + CORRUPT)
    try:
        descriptor = open_private(copy, os.O_WRONLY | os.O_EXCL)
    except FileExistsError:
        return _add_missing(copy, bad)
    except OSError:
        return False
    try:
        for piece in data:
            view = memoryview(piece)
            while view:
                view = view[os.write(descriptor, view) :]
    except OSError:
        copy.unlink(missing_ok=True)
        return False
    finally:
        os.close(descriptor)
    return True


def _add_missing(copy: Path, lines: Iterable[bytes]) -> bool:
    missing = dict.fromkeys(lines)
    try:
        with copy.open("rb") as file:
            for line in file:
                missing.pop(line.rstrip(b"\n"), None)
        if not missing:
            return True
        appended = AppendFile(copy)
    except OSError:
        return False
    try:
        return appended.append(list(missing)).error is None
    finally:
        appended.close()


def last_number(path: Path, field: str) -> int:
    """The highest value of an integer field in the last whole lines of a file; 0 when there is none.

    Reads backwards from the end, a block at a time, until a line tells. Raises `OSError`.
    """
    numbers = msgspec.json.Decoder(dict[str, msgspec.Raw])
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return 0
    with file:
        position = file.seek(0, os.SEEK_END)
        rest = b""
        while position:
            start = max(0, position - _BLOCK)
            file.seek(start)
            lines = (file.read(position - start) + rest).split(b"\n")
            rest = lines.pop(0) if start else b""
            found = [_number(numbers, line, field) for line in lines if line]
            if any(found):
                return max(found)
            position = start
    return 0


def _number(decoder: msgspec.json.Decoder[dict[str, msgspec.Raw]], line: bytes, field: str) -> int:
    try:
        return msgspec.json.decode(decoder.decode(line).get(field, b"0"), type=int)
    except msgspec.DecodeError:
        return 0
