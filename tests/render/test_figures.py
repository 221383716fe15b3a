"""Numbers and paths as people read them."""

from __future__ import annotations

import pytest

from grokmini.render.figures import count_text, money_text, plural, seconds_text, short_path


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 s"),
        (0.81, "0.8 s"),
        (9.96, "10 s"),
        (14.2, "14 s"),
        (59.6, "1 min 0 s"),
        (125, "2 min 5 s"),
        (3780, "1 h 3 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (950, "950"),
        (999, "999"),
        (3100, "3.1k"),
        (218_000, "218k"),
        (999_900, "1.0M"),
        (1_200_000, "1.2M"),
    ],
)
def test_counts(count: int, text: str) -> None:
    assert count_text(count) == text


def test_plurals_and_money() -> None:
    assert [plural(1, "step"), plural(5, "step"), plural(1200, "line")] == ["1 step", "5 steps", "1,200 lines"]
    assert [money_text(0.0019692), money_text(12.5)] == ["$0.0020", "$12.50"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/home/u/p/a.py", "a.py"),
        ("/home/u/p", "."),
        ("/home/u/q/a.py", "~/q/a.py"),
        ("/home/u", "~"),
        ("/home/u/pp/a", "~/pp/a"),
        ("/etc/x", "/etc/x"),
        ("rel/a", "rel/a"),
    ],
)
def test_paths_are_short_where_that_is_clear(path: str, text: str) -> None:
    assert short_path(path, "/home/u/p", "/home/u") == text
