"""Loops are noticed; long regular answers are not mistaken for them."""

from __future__ import annotations

import pytest

from grokmini.text.repetition import MAX_PERIOD, MIN_COPIES, MIN_RUN, RepetitionDetector


def looped(text: str, piece: int = 5) -> bool:
    detector = RepetitionDetector()
    return any(detector.feed(text[at : at + piece]) for at in range(0, len(text), piece))


@pytest.mark.parametrize(
    "period",
    [
        "I will try again. ",
        "a",
        "The file is not there.\nLet me look.\n",
        "-" * 79 + "\n",
        "word " * 60 + "end\n",
    ],
)
def test_the_same_stretch_again_and_again_is_a_loop(period: str) -> None:
    copies = max(MIN_RUN, MIN_COPIES * len(period)) // len(period) + 200
    assert looped("A normal beginning of an answer.\n" + period * copies)


def test_a_loop_is_noticed_whatever_the_size_of_the_pieces() -> None:
    text = "so it goes " * 500
    assert [looped(text, piece) for piece in (1, 7, 300, 5_500)] == [True] * 4


def test_a_loop_of_the_longest_period_is_noticed() -> None:
    period = "".join(f"step {number}, " for number in range(1000))[: MAX_PERIOD - 10]
    assert looped(period * 9, piece=97)


def test_a_few_repetitions_are_no_loop() -> None:
    assert not looped("I will try again. " * (MIN_RUN // 18 - 10))


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"| {number} | value {number * 7} |\n" for number in range(2000)),
        "".join(f"{number}. an item of a long list\n" for number in range(2000)),
        "".join(f"    assert add({number}, 1) == {number + 1}\n" for number in range(2000)),
        "".join(f"def f{number}(x):\n    return x\n\n\n" for number in range(1000)),
        ("=" * 80 + "\n") * 20 + "done\n",
    ],
    ids=["table", "list", "code", "functions", "rulers"],
)
def test_tables_lists_and_code_are_no_loops(text: str) -> None:
    assert not looped(text, piece=11)


def test_a_repetition_that_has_ended_is_no_loop() -> None:
    detector = RepetitionDetector()
    detector.feed("x" * (MIN_RUN - 300))
    assert not detector.feed("and then something else altogether, " + "".join(map(str, range(400))))
