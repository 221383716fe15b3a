"""The figures of the command line on sessions: completing a word, and a long log's first lines."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

from tests.bench.measure import median_of, run_process
from tests.bench.store_sessions import make_session
from tests.e2e.program import PROGRAM, Place

SESSIONS = 12_000
FOLDERS = 40
LOG_BYTES = 500_000_000
LOG_RUNS = 5
FIRST_LINES = 30
"""As many as a screen shows."""


class Completion(NamedTuple):
    """Seconds of the whole process that a shell starts at the Tab key, by what it asks for."""

    ids: float
    titles: float
    live: float
    models: float

    @property
    def slowest(self) -> float:
        """The longest of them."""
        return max(self)


def completion(place: Place) -> Completion:
    """Complete words among 12,000 sessions, with a warm page cache."""
    state = place.home / ".local" / "state" / "grokmini"
    for number in range(SESSIONS):
        folder = (
            place.project if number % FOLDERS == 0 else Path("/home/somebody", f"project{number % FOLDERS}")
        )
        make_session(state, folder, turns=1, history=200, updates=200, seed=number)
    env = place.environment()

    def asked(*words: str) -> float:
        command: list[str | Path] = [PROGRAM, "completions", "words", *words]
        return median_of(lambda: run_process(command, cwd=place.project, env=env).wall)

    found = Completion(
        asked("sessions", "0"), asked("sessions", "session"), asked("live-sessions"), asked("models")
    )
    shutil.rmtree(state)
    return found


def first_lines(place: Place) -> float:
    """Seconds from exec until `grokmini log` has printed a screenful of a session with 500 MB of events."""
    state = place.home / ".local" / "state" / "grokmini"
    directory = make_session(state, place.project, turns=2_000, history=2_000, updates=LOG_BYTES)
    seconds = median_of(lambda: _first_lines(place), LOG_RUNS, 1)
    shutil.rmtree(directory)
    return seconds


def _first_lines(place: Place) -> float:
    began = time.monotonic()
    command = [str(PROGRAM), "log"]
    with subprocess.Popen(
        command, cwd=place.project, env=place.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        for _ in range(FIRST_LINES):
            process.stdout.readline()
        seconds = time.monotonic() - began
        process.stdout.close()
    return seconds
