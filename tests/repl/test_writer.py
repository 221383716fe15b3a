"""The writer's thread: everything in order, nobody waits for a slow terminal, a gone one is told of once."""

from __future__ import annotations

import errno
import os
import threading

from grokmini.repl.writer import MAX_BACKLOG, TerminalWriter
from tests.waiting import SECONDS


def never(error: OSError) -> None:
    raise AssertionError(error)


def test_texts_for_two_descriptors_arrive_in_order() -> None:
    read, write = os.pipe()
    writer = TerminalWriter(never)
    for text in ("a", "日", "b"):
        writer.write(write, text)
    assert writer.close(SECONDS, write, "never")
    os.close(write)
    assert os.read(read, 100).decode() == "a日b"
    os.close(read)


def test_writing_never_blocks_and_the_rest_gives_way_to_last_words() -> None:
    read, write = os.pipe()
    writer = TerminalWriter(never)
    for _ in range(10):
        writer.write(write, "x" * 1_000_000)
    assert writer.full
    assert not writer.close(0.05, write, "rest: elsewhere")
    os.set_blocking(read, False)
    received = b""
    while not received.endswith(b"rest: elsewhere"):
        try:
            received += os.read(read, 1_000_000)
        except BlockingIOError:
            continue
    assert len(received) < 2_000_000
    os.close(read)
    os.close(write)


def test_a_descriptor_made_non_blocking_by_someone_else_loses_nothing() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    writer = TerminalWriter(never)
    writer.write(write, "y" * 300_000)
    received = 0
    while received < 300_000:
        received += len(os.read(read, 65_536))
    assert writer.close(SECONDS, write, "never")
    os.close(read)
    os.close(write)


def test_a_reader_that_has_left_is_told_once_and_ends_the_waiting() -> None:
    read, write = os.pipe()
    os.close(read)
    gone = threading.Event()
    errors: list[int | None] = []

    def on_gone(error: OSError) -> None:
        errors.append(error.errno)
        gone.set()

    writer = TerminalWriter(on_gone)
    writer.write(write, "z" * (MAX_BACKLOG + 1))
    writer.wait_for_room()
    assert gone.wait(SECONDS)
    writer.write(write, "more")
    assert not writer.close(SECONDS, write, "never")
    assert errors == [errno.EPIPE]
    os.close(write)
