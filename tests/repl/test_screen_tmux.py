"""The screen in a real tmux: resizes while lines are finished."""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

import pytest

from tests.fakes.tmux import Tmux
from tests.repl.screen_program import END, STEP, finished_line

PROGRAM = f"{sys.executable} -m tests.repl.screen_program"
SIZES = [(80, 24), (40, 10)]


def wait_drawn(tmux: Tmux, columns: int, note: str) -> None:
    """Wait until the live rows stand at the bottom, as wide as the screen, and say this."""
    rows = ["> draft", f"status {note} ".ljust(columns - 1, ".") + "|"]
    tmux.wait_until(lambda: [row for row in tmux.screen() if row][-2:] == rows, f"{note} at {columns}")


@pytest.mark.parametrize("size", SIZES)
def test_resizes_between_frames_leave_every_line_once_and_one_live_region(
    size: tuple[int, int], tmp_path: Path, full: bool
) -> None:
    chance = random.Random(sum(size))
    columns, resizes = size[0], 100 if full else 4
    before = 5  # steps, after which the screen is full
    count = STEP * (before + resizes)
    with Tmux(tmp_path, *size, f"{PROGRAM} {count} step") as tmux:
        for step in range(1, before + resizes + 1):
            tmux.wait_for(f"step {step * STEP} ")
            if step > before:
                columns = chance.randint(32, 100)
                tmux.resize(columns, chance.randint(size[1], 30))
                wait_drawn(tmux, columns, f"step {step * STEP}")
            tmux.keys("n")
        wait_drawn(tmux, columns, END)
        lines = [line for line in tmux.lines() if line]
        assert lines[:-2] == [finished_line(number) for number in range(count)]
        tmux.keys("q")
        tmux.wait_until(lambda: not any("draft" in row for row in tmux.screen()), "the end")


@pytest.mark.parametrize("size", SIZES)
def test_resizes_in_the_midst_of_streaming_lose_nothing(size: tuple[int, int], tmp_path: Path) -> None:
    """tmux tells of some sizes late: a stale row may then stay behind, but no line may be lost or broken."""
    chance = random.Random(sum(size) + 1)
    count = 40
    with Tmux(tmp_path, *size, f"{PROGRAM} {count}") as tmux:
        tmux.wait_for("L001")
        for _ in range(20):
            tmux.resize(chance.randint(32, 100), chance.randint(6, 30))
            time.sleep(chance.random() * 0.1)
        tmux.resize(*size)
        wait_drawn(tmux, size[0], END)
        seen, place = "\n".join(tmux.lines()), 0
        for number in range(count):
            line = finished_line(number)
            assert line in seen, line
            place = seen.index(line, place) + len(line)
        assert seen.count("> draft") <= 4
