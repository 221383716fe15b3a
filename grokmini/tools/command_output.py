"""A command's output, bounded in memory: the beginning and the end here, the whole in a spill file."""

from __future__ import annotations

import codecs
import re
from collections import deque
from pathlib import Path
from typing import Final, NamedTuple

from grokmini.protocol.codec import join_surrogates
from grokmini.text.sanitise import sanitise, strip_ansi
from grokmini.text.truncate import cut_long_lines
from grokmini.tools.contract import SpillFiles

SPILL_CAP: Final = 64 * 1024 * 1024
"""Bytes of one command's output that are kept in its file at most."""
LINE_LIMIT: Final = 2_000
BATCH: Final = 1_048_576
BINARY_SHARE: Final = 0.1
PROGRESS_LIMIT: Final = 4_096

_OVERSTRUCK: Final = r"[^\n]\x08"
_PART_OF_ESCAPE: Final = r"\x1b(?:\[[0-?]*[ -/]*|[\]PX^_][^\x07\x1b\n]{0,64})?\Z"


class Shown(NamedTuple):
    """What is shown of the output. `notes` say what was cut and where the whole is."""

    text: str
    notes: tuple[str, ...]
    spill: str | None
    lines: int = 0


class CommandOutput:
    """Collects the output of one command. `limit` is in characters of the text shown at the end."""

    def __init__(self, limit: int, spill: SpillFiles, name: str) -> None:
        self._limit = limit
        self._keep = 4 * limit
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0
        self._newlines = 0
        self._spill = spill
        self._name = name
        self._path: Path | None = None
        self._spill_failed = False
        self._unwritten = bytearray()
        self._written = 0

    def feed(self, data: bytes) -> None:
        """Take a piece as it came. Does no I/O."""
        self.total += len(data)
        self._newlines += data.count(b"\n")
        if len(self._unwritten) + self._written < SPILL_CAP:
            self._unwritten += data
        room = self._keep - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            while self._tail_size - len(self._tail[0]) >= self._keep:
                self._tail_size -= len(self._tail.popleft())

    @property
    def wants_writing(self) -> bool:
        """Whether enough has come to write a batch to the spill file."""
        return len(self._unwritten) >= BATCH

    def write_batch(self) -> None:
        """Append what is not yet in the spill file, up to its cap. Blocks; call it in a thread."""
        data = bytes(self._unwritten[: SPILL_CAP - self._written])
        self._unwritten.clear()
        if self._spill_failed:
            return
        if self._path is None:
            self._path = self._spill.open_path(self._name)
        if self._path is None:
            self._spill_failed = True
            return
        try:
            with self._path.open("ab") as file:
                file.write(data)
            self._written += len(data)
        except OSError:
            self._spill_failed = True

    def is_cut(self) -> bool:
        """Whether the text shown will lack something."""
        shown = self._kept_text()
        return (
            self._omitted_bytes() > 0
            or len(shown) > self._limit
            or self._is_binary()
            or max(map(len, shown.split("\n"))) > LINE_LIMIT
        )

    def finish(self) -> Shown:
        """The text to show. When it `is_cut`, call `write_batch` before."""
        where = self._where()
        if self._is_binary():
            return Shown("", (f"binary output, {self.total:,} bytes, not shown{where}",), self._spill_path())
        text = self._kept_text()
        if self._omitted_bytes() == 0 and len(text) <= self._limit:
            shown = cut_long_lines(text, LINE_LIMIT)
            notes = (f"lines over {LINE_LIMIT:,} characters are cut{where}",) if shown != text else ()
            return Shown(shown, notes, self._spill_path())
        half = self._limit // 2
        if self._omitted_bytes():
            head, tail = _clean(bytes(self._head)), _clean(b"".join(self._tail))
        else:
            head = tail = text
        first, last = cut_long_lines(head[:half], LINE_LIMIT), cut_long_lines(tail[-half:], LINE_LIMIT)
        note = f"truncated: first and last {half:,} characters of {self.total:,} bytes{where}"
        return Shown(f"{first}\n[…]\n{last}", (note,), self._spill_path(), self._lines(tail))

    def _lines(self, tail: str) -> int:
        return self._newlines + (not tail.endswith("\n"))

    def _where(self) -> str:
        if self._path is None or (self._spill_failed and not self._written):
            return "; the whole could not be kept in a file"
        if self._written < self.total:
            return f"; the first {self._written:,} bytes are in {self._shown_path()}"
        return f"; full output in {self._shown_path()}"

    def _spill_path(self) -> str | None:
        return self._shown_path() if self._written else None

    def _shown_path(self) -> str:
        return join_surrogates(str(self._path))

    def _omitted_bytes(self) -> int:
        return self.total - len(self._head) - self._tail_size

    def _kept_text(self) -> str:
        return _clean(bytes(self._head) + b"".join(self._tail))

    def _is_binary(self) -> bool:
        sample = bytes(self._head[:8192])
        if b"\0" not in sample and sample.isascii():
            return False
        text = (
            sample[:-4].decode("utf-8", "replace") if len(sample) == 8192 else sample.decode("utf-8", "replace")
        )
        odd = text.count("\0") + text.count("\ufffd")
        return odd > BINARY_SHARE * max(1, len(text))


class ProgressText:
    """Pieces of output as text to show while the command runs; escapes and characters may be cut anywhere."""

    def __init__(self) -> None:
        self._pending = b""
        self._held = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data: bytes) -> None:
        """Take a piece; of much output only the end is kept."""
        self._pending += data
        if len(self._pending) > PROGRESS_LIMIT:
            self._pending = self._pending[-PROGRESS_LIMIT:]
            self._held = ""  # what would go on is left out
            self._decoder.reset()

    @property
    def waiting(self) -> bool:
        """Whether there is something to show."""
        return bool(self._pending)

    def take(self) -> str:
        """The text so far, without the beginning of a character or sequence whose rest has not come."""
        text = self._held + self._decoder.decode(self._pending)
        self._pending, self._held = b"", ""
        if part := re.search(_PART_OF_ESCAPE, text):
            self._held = part[0]
            text = text[: part.start()]
        return _clean_text(text)


def _clean(data: bytes) -> str:
    return _clean_text(data.decode("utf-8", "replace"))


def _clean_text(text: str) -> str:
    """Without escape sequences and overstriking; of a line rewritten with CR, its last state; then sanitised."""
    text = strip_ansi(text).replace("\r\n", "\n")
    while "\b" in text:
        shorter = re.sub(_OVERSTRUCK, "", text)
        if shorter == text:
            break
        text = shorter
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return sanitise(text)
