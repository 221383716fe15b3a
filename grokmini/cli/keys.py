"""`grokmini keys`: what the terminal sends for a key, and what it means here."""

from __future__ import annotations

import os
import select
import signal
import sys
from typing import TYPE_CHECKING

from grokmini.cli.option import CommandSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grokmini.cli.parse import Parsed
    from grokmini.repl.keys import Press

SPEC = CommandSpec(
    examples=("grokmini keys",),
    about="Shows for every key what this terminal sends and what it means here.",
)
STDIN = 0
TOGETHER_SECONDS = 0.06
"""Bytes that come within this time of each other belong to one key."""


def run(parsed: Parsed) -> int:
    """Show every key until Ctrl-D is pressed twice. Raises `UsageError` without a terminal."""
    from grokmini.protocol.errors import ExitCode, UsageError
    from grokmini.repl.tty_mode import TtyMode

    if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("there is no keyboard to listen to", "run grokmini keys at a terminal")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, frame: sys.exit(128 + number))
    mode = TtyMode(STDIN)
    mode.enter()
    try:
        sys.stdout.write("Press keys to see what this terminal sends. Ctrl-D twice leaves.\n")
        before = b""
        while (data := _read_key()) and not (data == before == b"\x04"):
            sys.stdout.write(describe(data) + "\n")
            sys.stdout.flush()
            before = data
    finally:
        mode.leave()
    return ExitCode.OK if data else ExitCode.SIGHUP


def describe(data: bytes) -> str:
    """The bytes as they came, and the keys that they are."""
    from grokmini.repl.decoder import KeyDecoder

    decoder = KeyDecoder()
    presses = [*decoder.feed(data), *decoder.silence(1.0)]
    shown = "".join(chr(byte) if 0x21 <= byte < 0x7F and byte != 0x5C else f"\\x{byte:02x}" for byte in data)
    return f"{shown:<24}  {_names(presses) or 'nothing: an answer of the terminal'}"


def _names(presses: Sequence[Press]) -> str:
    from grokmini.repl.keys import Chord, Key

    names = []
    for press in presses:
        if isinstance(press, Key):
            names.append(press.name.lower().replace("_", " "))
        elif isinstance(press, Chord):
            names.append("another key")
        else:
            names.append(f"text {press.text!r}")
    return ", ".join(names)


def _read_key() -> bytes:
    """The bytes of one key; empty when the terminal is gone."""
    data = b""
    while not data or select.select([STDIN], [], [], TOGETHER_SECONDS)[0]:
        try:
            piece = os.read(STDIN, 1024)
        except OSError:
            return b""
        if not piece:
            return b""
        data += piece
    return data
