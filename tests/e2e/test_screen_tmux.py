"""The screen in a real tmux: resizes while lines are finished."""

from __future__ import annotations

import random
import re
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


def wait_redrawn(tmux: Tmux, columns: int) -> None:
    """Wait until a status line as wide as the screen stands there, whatever it says."""
    tmux.wait_until(
        lambda: any(
            row.startswith("status") and len(row) == columns and row[-1] == "|" for row in tmux.screen()
        ),
        f"a frame at {columns}",
    )


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
def test_resizes_in_the_midst_of_streaming_lose_and_double_nothing(
    size: tuple[int, int], tmp_path: Path
) -> None:
    """tmux tells of some sizes late: a stale live row may then stay behind, but each line is there once."""
    chance = random.Random(sum(size) + 1)
    count = 40
    with Tmux(tmp_path, *size, f"{PROGRAM} {count}") as tmux:
        tmux.wait_for("L001")
        for _ in range(20):
            tmux.resize(chance.randint(32, 100), chance.randint(6, 30))
            time.sleep(chance.random() * 0.1)
        tmux.resize(*size)
        wait_drawn(tmux, size[0], END)
        check_streamed(tmux.lines(), count)


@pytest.mark.parametrize(
    "sizes",
    [
        [(60, 20), (40, 10), (100, 24)],
        [(60, 20), (40, 10), (100, 24), (50, 12), (80, 24), (40, 10)],
    ],
)
def test_a_reply_that_streams_on_at_each_new_size_is_whole_and_there_once(
    sizes: list[tuple[int, int]], tmp_path: Path
) -> None:
    count = 5 + 7 * len(sizes)
    with Tmux(tmp_path, 80, 24, f"{PROGRAM} {count}") as tmux:
        tmux.wait_for("L005")
        for columns, rows in sizes:
            tmux.resize(columns, rows)
            wait_redrawn(tmux, columns)
            wait_for_more(tmux)
        wait_drawn(tmux, sizes[-1][0], END)
        check_streamed(tmux.lines(), count)


def wait_for_more(tmux: Tmux) -> None:
    """Wait until a further line is finished, or the last one was."""
    seen = newest_line(tmux)
    tmux.wait_until(lambda: newest_line(tmux) > seen or has_ended(tmux), f"more than line {seen}")


def newest_line(tmux: Tmux) -> int:
    """The number of the last finished line on the screen; -1 when there is none."""
    return max((int(row[1:4]) for row in tmux.screen() if re.match(r"L\d{3} ", row)), default=-1)


def has_ended(tmux: Tmux) -> bool:
    """Whether the last frame stands there."""
    return any(END in row for row in tmux.screen())


def check_streamed(lines: list[str], count: int) -> None:
    """Every finished line once and in order, each a line of its own; few live regions left behind."""
    assert [line for line in lines if line.startswith("L")] == [finished_line(n) for n in range(count)]
    assert "\n".join(lines).count("> draft") <= 4
