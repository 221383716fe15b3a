"""Starting a process of ours that outlives the agent: it waits for the end of its input, which is the agent's end."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

_RUN = "import sys; sys.path.append(sys.argv[1]); from {} import main; main()"


def python_words(module: str) -> tuple[str, ...]:
    """The command line of a module's `main`, for which `sys.argv[1]` is where the code is; more may follow.

    By the interpreter's real path: a link to it may be the project's, and by then lead elsewhere.
    """
    return (
        os.path.realpath(sys.executable),
        "-I",
        "-S",
        "-c",
        _RUN.format(module),
        str(Path(__file__).parents[2]),
    )


def start_outliving(words: Sequence[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start it without environment, terminal or output; it, and our end of its input. Raises `OSError`."""
    with ExitStack() as always, ExitStack() as unless_started:
        reading, writing = os.pipe()
        always.callback(os.close, reading)
        unless_started.callback(os.close, writing)
        process = subprocess.Popen(
            words,
            cwd="/",
            env={},
            stdin=reading,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        unless_started.pop_all()
    return process, writing
