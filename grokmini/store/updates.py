"""Reading `updates.jsonl`: what a session said, a line at a time however long the file is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from grokmini.files.regular import open_regular
from grokmini.protocol.codec import decode_event
from grokmini.protocol.events import EventRecord, TurnStarted
from grokmini.store.layout import UPDATES

TURN_STARTED = b'"type":"turn_started"'
TURN_ENDED = b'"type":"turn_ended"'
"""What a line that begins or ends a turn holds, so that others need no decoding; in a string a quote is escaped."""

BLOCK = 1 << 18
"""Bytes read at a time from the end."""


def read_updates(directory: Path) -> Iterator[EventRecord]:
    """The events of the session in that directory, oldest first; lines that cannot be read are passed over.

    A missing file is an empty one. Raises `OSError` for a file that cannot be read at all. Blocks.
    """
    yield from _read_from(directory / UPDATES, 0)


def read_last_turns(directory: Path, turns: int) -> Iterator[EventRecord]:
    """The events from the beginning of the last so many turns on, oldest first.

    Reads backwards to find where that is, so it costs what it gives, however long the file is. All events when
    there are no more turns than that. Raises `OSError` as `read_updates` does. Blocks.
    """
    path = directory / UPDATES
    yield from _read_from(path, start_of_last_turns(path, turns))


def start_of_last_turns(path: Path, turns: int, *, block_size: int = BLOCK) -> int:
    """The byte at which the last so many turns begin; 0 when there are no more than that.

    Whatever `block_size` the file is read by, the answer is the same. Raises `OSError` for a file that cannot be
    read at all.
    """
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return 0
    with file:
        position = file.seek(0, os.SEEK_END)
        if turns <= 0:
            return position
        rest = b""
        size = block_size
        while position:
            start = max(0, position - size)
            file.seek(start)
            block = file.read(position - start) + rest
            first = block.find(b"\n") + 1 if start else 0
            if start and first in (0, len(block)):
                rest = block
                position = start
                size *= 2  # a line this long is not put together a little at a time
                continue
            size = block_size
            for offset in _turn_starts(block, first):
                turns -= 1
                if turns == 0:
                    return start + offset
            rest = block[:first]
            position = start
    return 0


def _turn_starts(block: bytes, first: int) -> Iterator[int]:
    """Offsets of the lines of the block that begin a turn, last first; lines before `first` are not whole."""
    end = len(block)
    while (found := block.rfind(TURN_STARTED, first, end)) >= 0:
        start = block.rfind(b"\n", 0, found) + 1
        record = read_event(block[start:end].partition(b"\n")[0])
        if record is not None and isinstance(record.event, TurnStarted):
            yield start
        end = start


def _read_from(path: Path, offset: int) -> Iterator[EventRecord]:
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return
    with file:
        file.seek(offset)
        for line in file:
            record = read_event(line)
            if record is not None:
                yield record


def read_event(line: bytes) -> EventRecord | None:
    """The event of a line; None for one torn by a crash or of a kind that a newer version wrote."""
    try:
        return decode_event(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
