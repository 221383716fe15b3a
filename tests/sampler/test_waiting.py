"""How long to wait before asking again."""

from __future__ import annotations

import pytest

from grokmini.sampler.waiting import asked_wait, backoff, duration, text_wait

NOW = 1_800_000_000.0


def test_backoff_has_full_jitter_under_a_doubling_ceiling() -> None:
    assert [backoff(attempt, lambda: 1.0) for attempt in range(1, 9)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    assert backoff(5, lambda: 0.0) == 0.0
    assert backoff(5, lambda: 0.25) == 2.0
    assert backoff(100_000, lambda: 1.0) == 30


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Fri, 15 Jan 2027 08:00:30 GMT"}, 30.0),
        ({"retry-after": "Fri, 15 Jan 2027 07:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "1", "retry-after-ms": "0"}, 1.0),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "6m0s"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "9",
                "x-ratelimit-reset-requests": "8h",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "22ms",
            },
            0.022,
        ),
        ({"x-ratelimit-reset": str(NOW + 12)}, 12.0),
        ({"x-ratelimit-reset": str((NOW + 12) * 1000)}, 12.0),
        ({"ratelimit-reset": "5"}, 5.0),
        (
            {
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2027-01-15T08:00:40Z",
            },
            40.0,
        ),
        ({"anthropic-ratelimit-tokens-reset": "whenever"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_off_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    assert asked_wait(headers, "", NOW) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Rate limit reached. Please try again in 19 seconds.", 19.0),
        ("Please try again in 1m30s", 90.0),
        ("Please try again in 1.5s. Visit", 1.5),
        ("try again in 820ms", 0.82),
        ("Please retry in 22.5s", 22.5),
        ("retry after 30 seconds", 30.0),
        ("Please wait 5 minutes before", 300.0),
        ("Try again in about 2 hours", 7200.0),
        ("quota resets in 3 min", 180.0),
        ("You sent 19 seconds of audio", None),
        ("try again later", None),
        ("", None),
    ],
)
def test_the_wait_is_read_off_the_text(text: str, seconds: float | None) -> None:
    assert text_wait(text) == pytest.approx(seconds)


def test_headers_win_over_the_text() -> None:
    assert asked_wait({"retry-after": "3"}, "try again in 19 seconds", NOW) == 3.0


@pytest.mark.parametrize(("text", "seconds"), [("1h2m3s", 3723.0), ("7", None), ("x", None), ("", None)])
def test_durations_are_parsed(text: str, seconds: float | None) -> None:
    assert duration(text) == seconds
