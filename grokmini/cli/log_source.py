"""Where the events of `grokmini log` come from: the file of a session, or its end, and what is added meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from grokmini.files.regular import open_regular
from grokmini.protocol.events import EventRecord
from grokmini.store.driver_lock import holder
from grokmini.store.follow import UpdatesTail
from grokmini.store.layout import UPDATES
from grokmini.store.updates import read_last_turns, read_updates, start_of_last_turns

Wait = Callable[[], bool]
"""Waits a while for more to be written; False when nobody reads any more."""


def read_session(directory: Path, tail: int | None) -> Iterator[EventRecord]:
    """What is stored, oldest first, or of the last `tail` prompts only. Raises `OSError`."""
    return read_updates(directory) if tail is None else read_last_turns(directory, tail)


def stored_lines(directory: Path, tail: int | None) -> Iterator[bytes]:
    """The same as the lines that are in the file, whatever wrote them; what is no JSON is left out."""
    path = directory / UPDATES
    try:
        file = open_regular(path)
    except FileNotFoundError:
        return
    with file:
        file.seek(0 if tail is None else start_of_last_turns(path, tail))
        for line in file:
            try:
                msgspec.json.decode(line, type=msgspec.Raw)
            except (msgspec.DecodeError, RecursionError):
                continue  # torn by a crash
            yield line


def follow_session(directory: Path, tail: int | None, wait: Wait) -> Iterator[EventRecord]:
    """What is stored, then what the session's driver adds, until nobody drives it or nobody reads.

    Whether somebody drives is asked before the file is read, so that the last words are not missed.
    """
    events = UpdatesTail(directory, turns=tail)
    while True:
        driven = holder(directory) is not None
        records = events.read()
        yield from records
        if not records and not events.behind and not (driven and wait()):
            return
