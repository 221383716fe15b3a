"""How often the screen is drawn."""

from __future__ import annotations

from grokmini.repl.pacing import FAST_INTERVAL, SLOW_INTERVAL, Pacer


def rate_of(characters_per_second: float, seconds: float = 10.0) -> Pacer:
    """A pacer after frames that kept to its pace, with that much text."""
    pacer, now, drawn = Pacer(), 0.0, 0.0
    while now < seconds:
        pacer.drew(now, int(characters_per_second * (now - drawn)))
        drawn, now = now, pacer.next_frame()
    return pacer


def test_the_first_frame_may_be_drawn_at_once() -> None:
    assert Pacer().next_frame() < 0


def test_below_200_tokens_a_second_it_is_10_frames_a_second_and_above_20() -> None:
    slow, fast = rate_of(100 * 4.5), rate_of(400 * 4.5)
    assert not slow.pouring and fast.pouring
    slow.drew(20.0, 0)
    assert slow.next_frame() == 20.0 + SLOW_INTERVAL
    fast.drew(10.05, 90)
    assert fast.next_frame() == 10.05 + FAST_INTERVAL


def test_text_that_moves_from_the_live_rows_to_the_finished_lines_does_not_count_twice() -> None:
    pacer, now = rate_of(100 * 4.5), 10.0
    for _ in range(20):
        pacer.drew(now := now + 0.05, 600 - 560)
    assert not pacer.pouring


def test_after_a_pause_it_is_slow_again() -> None:
    pacer = rate_of(400 * 4.5)
    pacer.drew(30.0, 5)
    assert not pacer.pouring
