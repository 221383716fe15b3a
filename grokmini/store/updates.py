"""Reading `updates.jsonl`: what a session said, oldest first, a line at a time however long the file is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from grokmini.protocol.codec import decode_event
from grokmini.protocol.events import EventRecord
from grokmini.store.layout import UPDATES


def read_updates(directory: Path) -> Iterator[EventRecord]:
    """The events of the session in that directory; lines that cannot be read are passed over.

    A missing file is an empty one. Raises `OSError` for a file that cannot be read at all. Blocks.
    """
    try:
        file = (directory / UPDATES).open("rb")
    except FileNotFoundError:
        return
    with file:
        for line in file:
            try:
                yield decode_event(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue  # torn by a crash, or of a kind that a newer version wrote
