"""Text about whose width terminals disagree."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcwidth

from grokmini.render.lines import Line, Span, Style, line_of, plain
from grokmini.repl.doubt import certain_length, fit, is_certain, widest
from grokmini.text.width import cell_width


def test_plain_text_and_cjk_are_certain_and_emoji_sequences_and_accents_are_not() -> None:
    for text in ("", "plain", "größer – naïve", "日本語", "│ ─ •"):
        assert is_certain(text)
    for text in ("e\u0301", "\u26a0\ufe0f", "👍🏽", "🇩🇪", "क्षि"):
        assert not is_certain(text)


def test_the_character_before_a_doubtful_one_is_doubtful_with_it() -> None:
    assert certain_length("abe\u0301") == 2
    assert certain_length("\u26a0\ufe0f") == 0


def test_the_widest_is_what_the_least_able_terminal_takes() -> None:
    assert widest("👩\u200d👩\u200d👧") == 6
    assert widest("\u26a0\ufe0f") == 2
    assert widest("e\u0301") == 1


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12), st.integers(0, 12))
def test_what_fits_is_a_beginning_that_no_way_of_counting_makes_too_wide(text: str, cells: int) -> None:
    line = line_of(text)
    fitted = fit(line, cells)
    assert plain(line).startswith(plain(fitted))
    assert cell_width(plain(fitted)) <= cells
    assert sum(max(0, wcwidth(character)) for character in plain(fitted)) <= cells


def test_a_line_that_fits_is_itself_and_invisible_spaces_at_its_end_go() -> None:
    line = line_of("words")
    assert fit(line, 5) is line
    assert fit(line_of("words  "), 20) == line
    underlined = Line((Span("words  ", Style(underline=True)),))
    assert fit(underlined, 20) is underlined
    assert fit(Line((Span("a"), Span("  ", Style(bold=True)))), 20) == line_of("a")
