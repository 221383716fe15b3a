"""How an error looks on standard error: whole in a pipe, broken between words on a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress

import pytest

MESSAGE = (
    "the sandbox profile strict cannot be kept here; not enforced: /home/somebody/a/very/long/path can be read"
)
CODE = f"""
from grokmini.cli.report import complain
from grokmini.protocol.errors import SandboxError
complain(SandboxError({MESSAGE!r}, "Install it."))
"""


TELL = f"from grokmini.cli.report import tell; tell({MESSAGE!r})"


def printed(error_output: int, code: str = CODE) -> None:
    subprocess.run(
        [sys.executable, "-c", code], stderr=error_output, env={**os.environ, "COLUMNS": "40"}, check=True
    )


def test_in_a_pipe_it_is_one_line_and_one_for_what_to_do() -> None:
    reading, writing = os.pipe()
    printed(writing)
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        assert file.read() == f"grokmini: {MESSAGE}\n  Install it.\n"


@pytest.mark.parametrize(
    ("code", "said"), [(CODE, f"grokmini: {MESSAGE} Install it."), (TELL, MESSAGE)], ids=["error", "notice"]
)
def test_on_a_terminal_no_word_is_broken(code: str, said: str) -> None:
    master, slave = os.openpty()
    printed(slave, code)
    os.close(slave)
    text = b""
    with suppress(OSError):  # how a terminal whose programs are gone ends on Linux
        while piece := os.read(master, 4096):
            text += piece
    os.close(master)
    lines = text.decode().splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(line.strip() for line in lines) == said
