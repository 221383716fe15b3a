"""A real tmux that is resized again and again while paragraphs stream."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.inline_terminal import inline_terminal
from tests.e2e.program import Place
from tests.fakes.model_server import ModelServer, Reply, call, reply

COLUMNS = range(40, 111)
ROWS = range(16, 31)
PARAGRAPH = range(10, 38)
"""Words of a paragraph: never more than the live region shows at the narrowest size."""
WORDS_EACH = 40
"""Words that stream between two resizes, at most."""


class Step(NamedTuple):
    """The next size, and up to which word the story must have come before the one after."""

    columns: int
    rows: int
    until: int


def steps(chance: random.Random, count: int) -> list[Step]:
    """Sizes that follow each other at once or some words apart."""
    come, planned = 20, []
    for _ in range(count):
        come += chance.randint(1, WORDS_EACH) if chance.random() < 0.8 else 0
        planned.append(Step(chance.choice(COLUMNS), chance.choice(ROWS), come))
    return planned


def story(chance: random.Random, words: list[str]) -> str:
    """The words in paragraphs."""
    paragraphs: list[str] = []
    at = 0
    while at < len(words):
        size = chance.choice(PARAGRAPH)
        paragraphs.append(" ".join(words[at : at + size]))
        at += size
    return "\n\n".join([*paragraphs, "the very end"])


@pytest.mark.parametrize("size", [(80, 24), (40, 16)])
def test_resizes_while_paragraphs_stream_keep_every_word_once_and_one_live_region(
    place: Place, tmp_path: Path, full: bool, size: tuple[int, int]
) -> None:
    """What a resize pushes out of reach stays there and counts as printed, its continuation stands below.

    Only where a frame and a resize cross each other may stale rows of the live region be left, seldom, and never
    instead of a line.
    """
    seed = sum(size)
    chance = random.Random(seed)
    plan = steps(chance, 100 if full else 6)
    words = [f"w{number:05}" for number in range(plan[-1].until + 30)]
    streamed = reply(story(chance, words), piece=7)
    with (
        ModelServer([Reply(chunks=streamed.chunks, delay=0.008)]) as server,
        inline_terminal(place, server, tmp_path, *size) as terminal,
    ):
        terminal.start()
        terminal.prompt("tell")
        terminal.see(words[20])
        for step in plan:
            terminal.tmux.resize(step.columns, step.rows)
            terminal.see(words[step.until])
        terminal.tmux.resize(*size)
        terminal.see("the very end")
        terminal.see_idle()
        terminal.see_on_screen("fake-model · ask")
        lines = terminal.lines
        seen = re.findall(r"w\d{5}", "\n".join(lines))
        times = Counter(seen)
        assert [missing for missing in words if missing not in times] == [], f"seed {seed}"
        last = {found: place for place, found in enumerate(seen)}
        assert [last[found] for found in words] == sorted(last.values()), "in order"
        stale = [line for line in lines if any(times[found] > 1 for found in re.findall(r"w\d{5}", line))]
        print(f"seed {seed}: {len(stale)} rows say the same in {len(plan)} resizes")
        assert len(stale) <= 6 + len(plan) // 5, "\n".join(stale)
        assert sum(line.startswith("›") for line in lines) == 2, "the prompt that was sent, and the draft"
        assert sum(line.startswith("fake-model") for line in lines) == 1, "one status line"
        assert terminal.leave() == 0


def test_a_question_in_a_window_that_is_small_for_a_while_stands_there_once(
    place: Place, tmp_path: Path
) -> None:
    """What the small window pushed out of reach comes back with the large one, and goes with the answer."""
    asks = reply(calls=[call("run_terminal_command", command="touch made")])
    with (
        ModelServer(
            [reply("\n\n".join(f"line {number}." for number in range(20))), asks, reply("all done")]
        ) as server,
        inline_terminal(place, server, tmp_path) as terminal,
    ):
        terminal.start()
        terminal.prompt("fill")
        terminal.see("line 19.")
        terminal.see_idle()
        terminal.prompt("go")
        for columns, rows in ((80, 10), (50, 9)):
            terminal.see_on_screen("4 no", "fake-model · ask")
            terminal.tmux.resize(columns, rows)
            terminal.see_on_screen("PgDn", "fake-model · ask")
            terminal.tmux.resize(80, 24)
        terminal.see_on_screen("4 no", "fake-model · ask")
        assert terminal.count("Run this?") == 1
        terminal.answer("1")
        terminal.see("all done")
        terminal.see_idle()
        assert terminal.count("Run this?") == 0
        (ran,) = (line for line in terminal.lines if "touch made" in line)
        assert ran.startswith("• Run   touch made ") and ran.endswith("  ok")
        assert terminal.leave() == 0
