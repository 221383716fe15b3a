"""Code colouring: line by line, the text untouched, never a failure."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grokmini.render.code import Languages
from grokmini.render.lines import Span

LANGUAGES = Languages()


NAMES = [
    *("python", "js", "ts", "json", "bash", "console", "html", "rust", "go", "c++", "yaml"),
    *("diff", "sql", "toml", "md", "java", "perl", "rb", "erb", "pytb", ".py", "no-such"),
]


@pytest.mark.parametrize("language", NAMES)
@settings(max_examples=15)
@given(text=st.text(alphabet="ab '\"`{}()<>$#\\/=*%@:;1.!?-_日\t", max_size=40))
def test_colouring_never_changes_the_text(language: str, text: str) -> None:
    highlighter = LANGUAGES.highlighter(language)
    for line in (text, text[::-1], text):
        assert "".join(span.text for span in highlighter.line(line)) == Span(line.expandtabs(4)).text


def test_the_state_is_carried_over_lines_and_a_copy_goes_its_own_way() -> None:
    highlighter = LANGUAGES.highlighter("python")
    highlighter.line('x = """doc')
    twin = highlighter.copy()
    assert [span.style.colour for span in highlighter.line("if x")] == ["green"]
    highlighter.line('"""')
    assert [span.style.colour for span in highlighter.line("if")] == ["magenta"]
    assert [span.style.colour for span in twin.line("if")] == ["green"]


def test_unknown_languages_and_very_long_lines_stay_plain() -> None:
    assert LANGUAGES.highlighter("no-such-language").line("if x") == (Span("if x"),)
    assert LANGUAGES.highlighter("python").line("if " * 500) == (Span("if " * 500),)


def test_an_endless_lexer_gives_plain_text() -> None:
    from pygments.lexer import RegexLexer, default
    from pygments.token import Text

    class Endless(RegexLexer):
        """Two states that send each other on for ever."""

        name = "Endless"
        tokens = {"root": [default("other")], "other": [default("root"), (r"x", Text)]}  # noqa: RUF012 (as Pygments wants it)

    from grokmini.render.code import Highlighter

    assert Highlighter(Endless(), {}).line("abc") == (Span("abc"),)


def test_pygments_is_loaded_only_when_there_is_code_to_colour() -> None:
    import subprocess

    script = (
        "import sys\nfrom grokmini.render.linear import LinearView\n"
        "LinearView(width=80, unicode=True, show_reasoning=True)\n"
        "print([m for m in ('pygments', 'mistune', 'wcwidth', 'rich', 'prompt_toolkit') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
