"""Where `grokmini log` writes: standard output, or the person's pager when that is a terminal."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from grokmini.cli.report import say
from grokmini.render.capabilities import Capabilities, detect

POLL_SECONDS = 0.25
"""How often a session that is followed is looked at."""


class LogOutput:
    """Takes text. Once the reader has left, `write` raises `BrokenPipeError`."""

    def __init__(self, file: IO[bytes], encoding: str) -> None:
        self._file = file
        self._encoding = encoding
        self._reader = select.poll()
        self._reader.register(file.fileno(), 0)

    def write(self, text: str) -> None:
        """Pass text on, in blocks."""
        if text:
            self._file.write(text.encode(self._encoding, "replace"))

    def write_as_is(self, data: bytes) -> None:
        """Pass bytes on, to a program and never to a terminal."""
        self._file.write(data)

    def flush(self) -> None:
        """Pass on what is there."""
        self._file.flush()

    def wait(self) -> bool:
        """Pass on what is there and wait a while; False when the reader has left meanwhile."""
        self.flush()
        return not self._reader.poll(POLL_SECONDS * 1000)


@contextmanager
def log_output(*, paged: bool) -> Iterator[LogOutput]:
    """Standard output, or with `paged` at a terminal the pager, which has ended when this does."""
    if paged and sys.stdout.isatty() and not shown_by(os.environ).dumb:
        with _left_to_the_pager():
            pager = _start_pager()
            if pager is not None and pager.stdin is not None:
                yield from _into(pager, pager.stdin)
                return
    output = LogOutput(sys.stdout.buffer, sys.stdout.encoding)
    yield output
    output.flush()


def _into(pager: subprocess.Popen[bytes], text: IO[bytes]) -> Iterator[LogOutput]:
    try:
        output = LogOutput(text, sys.stdout.encoding)
        yield output
        output.flush()
    except BrokenPipeError:
        pass  # the person has seen enough
    finally:
        _close(text)
        pager.wait()


def shown_by(env: Mapping[str, str]) -> Capabilities:
    """What the output can show. In a pipe its width is that of the terminal which is probably at its end."""
    is_terminal = sys.stdout.isatty()
    width = 0
    for stream in (sys.stdout, sys.stderr):
        if not width and stream is not None and stream.isatty():
            width = os.get_terminal_size(stream.fileno()).columns
    columns = env.get("COLUMNS", "")
    if not is_terminal and columns.isascii() and columns.isdigit():
        width = int(columns)
    return detect(env, is_tty=is_terminal, width=width, encoding=sys.stdout.encoding)


def _start_pager() -> subprocess.Popen[bytes] | None:
    """`$PAGER`, else less; None when there is none."""
    asked = os.environ.get("PAGER", "").strip()
    try:
        words = shlex.split(asked or "less")
    except ValueError:
        words = [asked]
    if Path(words[0]).name == "less":
        words.append("-R")
    try:
        return subprocess.Popen(words, stdin=subprocess.PIPE, env={"LESS": "-R", **os.environ})
    except OSError as error:
        if asked:
            say(f"! PAGER {words[0]} cannot be started: {error.strerror}")
        return None


@contextmanager
def _left_to_the_pager() -> Iterator[None]:
    """Inside, Ctrl-C and Ctrl-\\ are the pager's. They are handled, not ignored: that would reach the pager too."""
    before = {
        number: signal.signal(number, lambda number, frame: None) for number in (signal.SIGINT, signal.SIGQUIT)
    }
    try:
        yield
    finally:
        for number, found in before.items():
            signal.signal(number, found)


def _close(file: IO[bytes]) -> None:
    try:
        file.close()
    except BrokenPipeError:
        pass  # what was in the buffer is for nobody
