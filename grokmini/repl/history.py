"""What the person sent before: `{state}/history.jsonl`, shared by all sessions.

One JSON object a line, `{"time": s, "session_id": …, "cwd": …, "text": …}`, appended in one write, so that two
windows never mix their lines. Lines that cannot be read are skipped, and go when the file is shortened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import overload

import msgspec

MAX_ENTRIES = 10_000
"""Entries that are kept (reference/repl.md part 4)."""
TRIM_BYTES = 1_000_000
"""A file smaller than this is not counted when something is added."""


class HistoryEntry(msgspec.Struct, frozen=True):
    """One text that was sent. `time` is in seconds since the epoch."""

    time: float
    session_id: str
    cwd: str
    text: str


class History(Sequence[str]):
    """The texts to recall, newest first, those sent from this folder before all others, each once.

    `path` None keeps them in memory only. The file is read when the first text is asked for; `cwd` then says
    which folder is this one. `clock` gives seconds since the epoch.
    """

    def __init__(self, path: Path | None, clock: Callable[[], float]) -> None:
        self.cwd = ""
        self._path = path
        self._clock = clock
        self._texts: list[str] | None = None
        self._checked_size = False

    def __len__(self) -> int:
        return len(self._loaded())

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._loaded()[index]

    def add(self, text: str, session_id: str) -> None:
        """Keep a text that was sent. Raises `OSError` when the file cannot be written; it is recalled anyway."""
        self.remember(text)
        if self._path is None:
            return
        entry = HistoryEntry(self._clock(), session_id, self.cwd, text)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, msgspec.json.encode(entry) + b"\n")
            too_big = not self._checked_size and os.fstat(descriptor).st_size > TRIM_BYTES
        finally:
            os.close(descriptor)
        self._checked_size = True
        if too_big:
            shorten(self._path)

    def remember(self, text: str) -> None:
        """Let Up find a text in this run, without keeping it in the file (a draft that was cleared)."""
        texts = self._loaded()
        if text in texts[:1]:
            return
        texts.insert(0, text)

    def search(self, words: str, start: int = 0) -> int | None:
        """The place of the first text from `start` on that contains the words, in any case; None without one."""
        wanted = words.casefold()
        for place in range(start, len(self)):
            if wanted in self[place].casefold():
                return place
        return None

    def _loaded(self) -> list[str]:
        if self._texts is None:
            entries = list(read_entries(self._path)) if self._path else []
            self._texts = recall_order(entries[-MAX_ENTRIES:], self.cwd)
        return self._texts


def recall_order(entries: Sequence[HistoryEntry], cwd: str) -> list[str]:
    """Texts of entries given oldest first: those of the folder, then the others, newest first, each once."""
    here = [entry.text for entry in reversed(entries) if entry.cwd == cwd]
    elsewhere = [entry.text for entry in reversed(entries) if entry.cwd != cwd]
    return list(dict.fromkeys(here + elsewhere))


def read_entries(path: Path) -> Iterator[HistoryEntry]:
    """The readable entries of the file, oldest first; none when there is no file."""
    decoder = msgspec.json.Decoder(HistoryEntry)
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError:  # no history is no reason not to start; writing to it tells what is wrong
        return
    for line in lines:
        try:
            yield decoder.decode(line)
        except msgspec.DecodeError:
            continue


def shorten(path: Path) -> None:
    """Keep the newest entries only, when there are too many. Raises `OSError`."""
    entries = list(read_entries(path))
    if len(entries) <= MAX_ENTRIES:
        return
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.writelines(msgspec.json.encode(entry) + b"\n" for entry in entries[-MAX_ENTRIES:])
    fresh.replace(path)
