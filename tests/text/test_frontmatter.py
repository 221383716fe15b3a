"""Front matter of Markdown files."""

from __future__ import annotations

import pytest

from grokmini.text.frontmatter import split_frontmatter, strip_frontmatter


@pytest.mark.parametrize(
    ("text", "header", "body"),
    [
        ("---\na: 1\n---\nText\n", "a: 1\n", "Text\n"),
        ("---\n---\nText", "", "Text"),
        ("\ufeff---\na: 1\n...\nText", "a: 1\n", "Text"),
        ("---\r\na: 1\r\n---\r\nText", "a: 1\r\n", "Text"),
        ("Text\n---\na\n---\n", "", "Text\n---\na\n---\n"),
        ("---\nnever closed\n", "", "---\nnever closed\n"),
        ("----\na\n----\n", "", "----\na\n----\n"),
        ("", "", ""),
    ],
)
def test_the_block_is_taken_off_only_when_it_is_one(text: str, header: str, body: str) -> None:
    assert split_frontmatter(text) == (header, body)


def test_stripping_leaves_no_blank_lines_at_the_start() -> None:
    assert strip_frontmatter("---\na: 1\n---\n\n\n# Title\n") == "# Title\n"
