"""Styled text in lines."""

from __future__ import annotations

import pytest

from grokmini.render.lines import plain
from grokmini.render.look import DIM
from grokmini.render.spans import fact_lines


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (80, ["14 s · 5 steps · 3.1k tokens · 2 files changed"]),
        (40, ["14 s · 5 steps · 3.1k tokens", "2 files changed"]),
        (16, ["14 s · 5 steps", "3.1k tokens", "2 files changed"]),
        (8, ["14 s", "5 steps", "3.1k", "tokens", "2 files", "changed"]),
    ],
)
def test_no_line_breaks_within_a_fact_that_fits(width: int, lines: list[str]) -> None:
    facts = ["14 s", "5 steps", "", "3.1k tokens", "2 files changed"]
    assert [plain(line) for line in fact_lines(facts, " · ", DIM, width)] == lines
